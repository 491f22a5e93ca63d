// SPDX-License-Identifier: Apache-2.0

// Package detour is what interrupts the binding of a node: the node does it, and then returns to what it was. A kind of
// detour is a field of Detour and its methods; nothing else in sledd knows it but the requests that start and end it.
// The package is pure: no store, no clock.
package detour

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// Return marks the plan by which a node leaves a detour, OfJob that of a job.
const (
	Return = "return"
	OfJob  = "job"
)

// Detour is what a node is to do instead of following its binding, as stored.
type Detour struct {
	Run    int64       `json:"run,omitempty"` // of its plan; 0: not issued yet
	Rescue *api.Rescue `json:"rescue,omitempty"`
	Job    *Job        `json:"job,omitempty"`
}

// kind is what differs between kinds of detours.
type kind interface {
	name() string
	state() string         // of the node, as in "node n1 is ..."
	steps() []operand.Line // that the node runs
	show(node *api.Node)
}

// kind returns the one that wins of those that are requested; nil: there is none.
func (d *Detour) kind() kind {
	switch {
	case d == nil:
		return nil
	case d.Rescue != nil:
		return (*rescue)(d.Rescue)
	case d.Job != nil:
		return d.Job
	}
	return nil
}

// Requested reports whether there is anything to do.
func (d *Detour) Requested() bool { return d.kind() != nil }

// State is that of the node, as in "node n1 is ...". The detour is requested.
func (d *Detour) State() string { return d.kind().state() }

// Show adds the detour, if there is one, to what is shown of its node.
func (d *Detour) Show(node *api.Node) {
	if kind := d.kind(); kind != nil {
		kind.show(node)
	}
}

// Entered returns the rescue as it is once its step has ended, as reported from an address, and the event of that.
func (d *Detour) Entered(line report.Line, from api.Address, now time.Time) (Detour, api.Event) {
	return (*rescue)(d.Rescue).entered(*d, line, from, now)
}

// Node is the state of a node that asks for a plan.
type Node struct {
	Status    api.Status
	Bound     boot.Bound
	Satisfied bool
	Returned  bool     // it has returned by a ticket for its own next boot
	System    api.Boot // the Sled system of the boot server, which it can start itself; empty: it cannot
}

// Plan is what a node does because of a detour.
type Plan struct {
	Detour     string // kind of the detour, or Return
	After      string // what follows the detour; empty: the node continues as without it
	Used       bool   // nothing else is run on the kernel of this plan, or that it starts
	Generation int64
	Steps      []operand.Line // none: the node has its plan already
}

// Next returns the plan of a node that has a detour or leaves one. given is the run of the last plan that the node got
// in this boot, 0: none. False: the node follows its binding.
func (d *Detour) Next(node Node, given int64) (Plan, bool) {
	run := node.Status.Run
	has := given != 0 && given == run.Number
	if kind := d.kind(); kind != nil && !d.cancelled() {
		if has && given == d.Run || d.Rescue == nil && d.Job.State == api.JobRunning { // it is started once
			return Plan{}, true
		}
		return Plan{Detour: kind.name(), After: d.after(), Used: d.used(), Generation: run.Generation,
			Steps: kind.steps()}, true
	}
	continues := run.Used && node.Returned // by a kernel that the plan before has started
	switch {
	case run.Detour == "" || run.Detour == Return && has:
		return Plan{}, false
	case given == 0 && !continues: // a restart ends a detour, too; but the Sled system was started because of it
		if run.Detour == Return || !boot.Local(node.Status, node.Bound) {
			return Plan{}, false
		}
		run.Used = false
	case run.Detour == Return: // its kernel is that of the boot server
		run.Used = false
	}
	return leave(node, run.Used)
}

// cancelled reports whether the node is to leave its job, although the payload may still run.
func (d *Detour) cancelled() bool {
	return d.Rescue == nil && d.Job != nil && !d.Job.Cancelled.IsZero()
}

func (d *Detour) used() bool { return d.Rescue == nil && d.Job.Spoils() }

// after is what a node does after its job.
func (d *Detour) after() string {
	if d.Rescue != nil || d.Job.After == api.AfterReturn {
		return ""
	}
	return d.Job.After
}

// leave returns the plan by which a node leaves a detour. Nothing is repeated unless the binding has changed: a node
// that had failed waits, and an interrupted one boots, as it would have without the detour; what runs from memory is
// started again. Nobody waits on a used kernel.
func leave(node Node, used bool) (Plan, bool) {
	same := node.Status.Run.Generation == node.Bound.Generation
	local := boot.Local(node.Status, node.Bound)
	after := node.Status.Run.After
	step := operand.Line{Word: "reboot"}
	switch {
	case after == api.AfterPoweroff:
		step.Word = "poweroff"
	case local && (used || !same || after != api.AfterHold):
	case same && after == api.AfterHold, node.Status.Phase == api.Failed && same, !node.Bound.Is,
		node.Satisfied && !node.Bound.Memory:
		step.Word = "idle"
	case (!same || node.Bound.Memory) && !used:
		return Plan{}, false
	case !same || node.Bound.Memory:
		step.Word = "idle"
	}
	if used = used && step.Word == "idle"; used {
		step = fresh(node.System)
	}
	steps := []operand.Line{step}
	return Plan{Detour: Return, After: after, Used: used, Generation: node.Bound.Generation, Steps: steps}, true
}

// Leave returns the plan by which a node leaves a kernel on which its binding is not carried out.
func Leave(generation int64, system api.Boot) Plan {
	return Plan{Detour: Return, Generation: generation, Steps: []operand.Line{fresh(system)}}
}

// fresh is the step that starts the Sled system of the boot server.
func fresh(system api.Boot) operand.Line {
	if system.Kernel == "" {
		return operand.Line{Word: "reboot"}
	}
	return operand.Line{Word: "start", Operands: []operand.Pair{{Key: "as", Value: "system"},
		{Key: "vmlinuz", Value: system.Kernel}, {Key: "initrd", Value: system.Initrd}}}
}
