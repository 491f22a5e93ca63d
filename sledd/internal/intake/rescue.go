// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// orphan is the number of a rescue that a node started after it had ended.
const orphan int64 = -1

// rescuePlan returns the plan of a node that starts or ends a rescue; none when it follows its binding.
func (tx *nodeTx) rescuePlan(given int64) (plan.Plan, bool) {
	fresh := given == None
	if tx.Rescue() != nil {
		return plan.Plan{Generation: tx.Status().Generation, Steps: nodetx.RescueSteps(tx.Rescue().AuthorizedKeys)},
			fresh || tx.Status().Rescue != tx.Rescue().Number
	}
	if fresh {
		tx.Status().Rescue = 0 // it was restarted, which ends a rescue too
	}
	if tx.Status().Rescue == 0 {
		return plan.Plan{}, false
	}
	return tx.leaveRescuePlan(given)
}

// leaveRescuePlan returns the plan that ends a rescue which the node still runs. Nothing is
// repeated unless the binding has changed: a node that had failed waits, and an interrupted one
// boots, as it would have without the rescue.
func (tx *nodeTx) leaveRescuePlan(given int64) (plan.Plan, bool) {
	generation := tx.Generation()
	switch {
	case boot.Local(*tx.Status(), tx.Binding() != nil, generation, false):
		return leavingBy("reboot", generation), true
	case tx.Status().Phase == api.Failed && tx.Status().Generation == generation, tx.Binding() == nil, tx.Satisfied():
		return leavingBy("idle", generation), true
	case generation == given:
		return leavingBy("reboot", generation), true
	default:
		return plan.Plan{}, false
	}
}

func leavingBy(verb string, generation int64) plan.Plan {
	return plan.Plan{Generation: generation, Steps: []operand.Line{{Word: verb}}}
}

// recordRescuePlan notes that the node was given the plan of a detour, which is no progress of its binding.
func (tx *nodeTx) recordRescuePlan(desired plan.Plan) {
	if tx.Rescue() != nil {
		tx.Rescue().Given = true
	}
	tx.AddEvent(api.Event{Kind: "plan", Generation: desired.Generation, Steps: len(desired.Steps),
		Detail: nodetext.Clean(desired.Verbs())})
}

// applyRescueLine applies a report line of a rescue or of its end, and returns whether it was one.
// The earlier observed state stays.
func (tx *nodeTx) applyRescueLine(line report.Line) bool {
	switch {
	case line.Verb == "rescue" && line.Kind == report.Begin:
		tx.recordRescueStart()
	case line.Verb == "rescue":
		tx.recordRescueEntered(line)
	case tx.Status().Rescue == 0:
		return false
	case line.Verb == "reboot":
		if line.Kind == report.End {
			tx.Status().Rescue = 0
		}
	case line.Verb == "idle":
		tx.Status().Rescue = 0
		if tx.Status().Phase != api.Failed {
			tx.applyStepStart(line.Verb)
		}
	default:
		tx.Status().Rescue = 0
		return false
	}
	return true
}

// recordRescueStart notes that the node runs the step rescue.
func (tx *nodeTx) recordRescueStart() {
	if tx.Rescue() == nil {
		tx.Status().Rescue = orphan
		return
	}
	if tx.Rescue().Given {
		tx.Status().Rescue = tx.Rescue().Number
	}
	if tx.Status().Phase != api.UnderRescue {
		before := tx.Status().Phase
		if before == "" { // never seen before
			before = api.Booting
		}
		tx.Enter(api.UnderRescue)
		tx.Status().Before = before
	}
}

// recordRescueEntered notes how the step rescue ended: with the address and the host key to enter by, or with a reason.
func (tx *nodeTx) recordRescueEntered(line report.Line) {
	if tx.Rescue() == nil {
		return
	}
	r := &tx.Rescue().Rescue
	*r = api.Rescue{RescueSpec: r.RescueSpec, Started: r.Started, Entered: tx.Now}
	if line.Code != 0 {
		r.Reason = line.Reason
		tx.AddEvent(api.Event{Kind: "rescue", Generation: tx.Status().Generation, Code: line.Code,
			Detail: nodetext.Clean("failed: " + line.Reason.String())})
		return
	}
	r.Address, r.HostKey = line.Entry.Address, line.Entry.HostKey
	if own, err := nodetext.ParseAddress(tx.From()); err == nil { // not known behind a proxy on this machine
		r.Address = own
	}
	r.Fingerprint = r.HostKey.Fingerprint()
	tx.AddEvent(api.Event{Kind: "rescue", Generation: tx.Status().Generation,
		Detail: nodetext.Clean(fmt.Sprintf("entered: root@%s, host key %s", r.Address, r.Fingerprint))})
}
