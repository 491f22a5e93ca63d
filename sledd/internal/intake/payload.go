// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// confirmURL returns the URL by which the payload of the next plan confirms that it runs. Those of earlier plans end.
func (in *Intake) confirmURL(tx *nodeTx, record *token.Record, generation int64) string {
	text, fresh := token.Mint(token.Payload, tx.MAC, generation, tx.Now, operationalLife)
	fresh.Claim, fresh.Unwritten = record.Claim, true
	tx.SetTokens(token.Add(token.Without(tx.Tokens(), token.Payload), fresh, tx.Now))
	return strings.TrimSuffix(in.System.URL, "/") + "/up/" + text
}

// fromMemory is how a system was started of which no disk has anything.
const fromMemory = "memory"

// startedFromMemory notes that the node leaves the Sled system for what it has fetched.
func (tx *nodeTx) startedFromMemory(bound *nodetx.Binding) {
	tx.Status().Memory, tx.Status().Confirmed, tx.Status().Start = true, api.Prose{}, fromMemory
	payload := bound.Payload()
	if payload == nil {
		tx.Enter(api.Starting)
		return
	}
	tx.Status().OS = nil
	silent := cmp.Or(payload.Confirm, api.ConfirmNone) == api.ConfirmNone
	tx.RecordPayload(!silent)
	if silent { // nobody waits for its report
		tx.Enter(api.Unconfirmed)
		return
	}
	tx.Enter(api.Starting)
}

// Up takes the word of a payload that it runs, or as a job, that it has ended with an exit code. The token counts once,
// and opens nothing else.
func (in *Intake) Up(ctx context.Context, text string, exit int) error {
	unknown := refusal.New(refusal.NotFound, "no payload confirms with this")
	owner, is := token.Owner(text)
	if !is || !strings.HasPrefix(text, "sledp_") {
		return unknown
	}
	address, err := mac.FromPlain(owner)
	if err != nil {
		return unknown
	}
	return in.update(ctx, address, nil, func(tx *nodeTx) error {
		i := token.Find(tx.Tokens(), text, tx.Now)
		job := tx.Job().Payload() != nil // the tokens of a binding end with its plan
		if i < 0 || tx.Tokens()[i].Purpose != token.Payload || !job && tx.Tokens()[i].Generation != tx.Generation() {
			return unknown
		}
		if tx.Tokens()[i].Unwritten || job && !tx.Job().Jumped() || !job && tx.Status().Phase != api.Starting {
			return refusal.New(refusal.Forbidden, "node %s has not started this payload", address)
		}
		if job {
			tx.endPayload(api.JobDone, endedByPayload, "", exit)
			return nil
		}
		tx.confirmed("by http")
		return nil
	})
}

// confirmed notes that the payload of the node runs.
func (tx *nodeTx) confirmed(how string) {
	tx.SetTokens(token.Without(tx.Tokens(), token.Payload))
	tx.SettlePayload(true)
	started := tx.Status().Since
	tx.Status().Seen = tx.Now
	how = fmt.Sprintf("%s %.1f s after the jump", how, tx.Now.Sub(started).Seconds())
	tx.Status().Confirmed = nodetext.Clean(how)
	tx.Enter(api.Operational)
	tx.step(admission.Tick{})
	tx.Status().Progress, tx.Status().Code, tx.Status().Reason = nil, 0, api.Prose{}
	tx.AddEvent(api.Event{Kind: "operational", Generation: tx.Generation(), Seconds: tx.Now.Sub(started).Seconds(),
		Detail: nodetext.Clean("confirmed " + how), Level: tx.installedAt(tx.Generation())})
}

// endedByPayload is what ended a payload that has reported its end.
const endedByPayload = "payload"

// applyPayloadLine applies a report line of the step that starts the payload of a job.
func (tx *nodeTx) applyPayloadLine(line report.Line) {
	tx.Status().Progress = nil
	switch {
	case line.Kind == report.Begin: // the word that it has jumped may be lost
		tx.startJob()
		tx.Interrupt(api.Running)
		tx.Status().Run.Payload = true
	case line.Code != 0:
		tx.Status().Run.Payload = false
		tx.EndJob(tx.Job().End(line, "", tx.Now))
	case !tx.Job().Cancelled.IsZero():
		tx.EndJob(tx.Job().Finish(api.JobCancelled, "cancel", api.Prose{}, tx.Now))
	default:
		tx.changeJob(func(job *detour.Job) { job.Started = tx.Now })
		tx.RecordPayload(tx.Job().Confirm != api.ConfirmNone)
	}
}

// endPayload ends the job of a payload that was started.
func (tx *nodeTx) endPayload(state api.JobState, by, reason string, exit int) {
	job := tx.Job().Finish(state, by, nodetext.Clean(reason), tx.Now)
	job.Seconds = tx.Now.Sub(job.Started).Seconds()
	if state == api.JobDone {
		job.Exit = &exit
	}
	tx.SettlePayload(state == api.JobDone)
	tx.EndJob(job)
}

// payloadCameBack ends the job of a payload whose machine has started again.
func (tx *nodeTx) payloadCameBack() {
	if job := tx.Job(); job.Confirm != api.ConfirmNone {
		tx.endPayload(api.JobLost, "node", "the node restarted before its payload had confirmed by "+job.Confirm+
			tx.wordsBeforeReset(job.Started), 0)
		return
	}
	tx.endPayload(api.JobDone, "node", "", 0)
}

// payloadOver ends the job of a payload that has run for its timeout.
func (tx *nodeTx) payloadOver() {
	job := tx.Job()
	why := fmt.Sprintf("its payload ran for %d s", job.Timeout)
	if job.Confirm != api.ConfirmNone {
		why = fmt.Sprintf("its payload did not confirm by %s within %d s", job.Confirm, job.Timeout)
	}
	tx.endPayload(api.JobFailed, "timeout", why+tx.lastWords(tx.Now), 0)
}
