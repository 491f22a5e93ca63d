// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// nextDetour returns the plan of a node that has a detour or leaves one; false: it follows its binding.
func (tx *nodeTx) nextDetour(given int64) (detour.Plan, bool) {
	status := *tx.Status()
	status.Phase, status.Before = nodetx.SettledPhase(status), ""
	return tx.Detour().Next(detour.Node{Status: status, Bound: tx.Bound(), Satisfied: tx.Satisfied(),
		Returned: tx.returned(), System: tx.in.System.Secure(tx.Spec())}, given)
}

// returned reports whether the node has returned by a ticket for its own next boot.
func (tx *nodeTx) returned() bool { return tx.Admission().Incumbent.Returned() }

// issueDetour issues the plan of a detour, which is no progress of the binding.
func (in *Intake) issueDetour(tx *nodeTx, next detour.Plan, record *token.Record, answer *Answer) error {
	if len(next.Steps) == 0 {
		return nil
	}
	if next.Detour == detour.OfJob && tx.Job().Payload() != nil {
		next.Steps = tx.Job().PayloadSteps(in.confirmURL(tx, record, next.Generation))
	}
	desired, err := plan.Render(plan.Request{Generation: next.Generation, Run: tx.nextRun(), Steps: next.Steps,
		Node: tx.Spec(), Site: in.site()})
	if err != nil {
		return err
	}
	if err := in.attachPlan(tx, desired, record, answer); err != nil {
		return err
	}
	tx.Status().Run.Detour, tx.Status().Run.After, tx.Status().Run.Used = next.Detour, next.After, next.Used
	if next.Detour != detour.Return {
		tx.Detour().Run = desired.Run
		if tx.Detour().Rescue == nil {
			tx.issuedJob(desired.Run)
		}
	}
	tx.AddEvent(planEvent(desired, next.Detour, ""))
	return nil
}

// applyDetourLine applies a report line of a plan of a detour. What was observed before stays.
func (tx *nodeTx) applyDetourLine(sent report.Report, line report.Line, event api.Event) {
	step, _ := plan.VerbOf(line.Verb)
	rescued := tx.Detour() != nil && tx.Detour().Rescue != nil && tx.Detour().Run == sent.Run
	own := rescued || tx.ofJob(sent) // else it has ended, or is another one
	if own && line.Kind == report.Begin && step.Phase != "" {
		tx.Interrupt(step.Phase)
	}
	switch {
	case tx.ofJob(sent):
		if line.Kind == report.End {
			tx.step(admission.Tick{}) // the payload has run until now
		}
		tx.applyJobLine(line)
	case line.Kind == report.End && rescued:
		from, _ := nodetext.ParseAddress(tx.From()) // none behind a proxy on this machine
		left, ended := tx.Detour().Entered(line, from, tx.Now)
		tx.SetDetour(left)
		ended.Generation = tx.Status().Generation
		tx.AddEvent(ended)
	case line.Kind == report.End:
	case own:
	case tx.Status().Run.Detour == detour.Return && tx.Status().Run.After == "" && tx.Status().Phase != api.Failed:
		tx.applyStepStart(line.Verb)
	}
	event.Code, event.Seconds, event.Detail, event.Phase = line.Code, line.Seconds, line.Detail, tx.Status().Phase
	if line.Code != 0 {
		event.Detail = line.Reason
	}
	tx.AddEvent(event)
}
