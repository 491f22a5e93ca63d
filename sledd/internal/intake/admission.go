// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// recordEvery is the time after which a further request of an incumbent, to whom nobody is a rival, or of a claim is
// recorded: far shorter than the silence that counts.
const recordEvery = 5 * time.Second

// step applies an event to the admission. A claim that becomes the node has just booted; what an incumbent before it
// reported of its disk may not hold.
func (tx *nodeTx) step(event admission.Event) admission.Outcome {
	before := tx.Admission().Incumbent
	out := tx.in.DB.Policy.Step(tx.Tx, event)
	if now := tx.Admission().Incumbent; now != nil && (before == nil || before.ID != now.ID) {
		tx.recordBoot()
		tx.Status().Address, _ = nodetext.ParseAddress(now.Address) // none behind a proxy on this machine
	}
	if slices.ContainsFunc(out.Notes, func(note admission.Note) bool { return note.Kind == admission.Void }) {
		tx.forgetDisk()
	}
	return out
}

// recordIncumbentRequest stores when the incumbent that a boot token was issued to last made a request. Other tokens
// have no claim.
func (tx *nodeTx) recordIncumbentRequest(record *token.Record) error {
	if record.Purpose != token.Boot {
		return nil
	}
	incumbent := tx.Admission().Incumbent
	if incumbent == nil || incumbent.ID != record.Claim {
		return refusal.New(refusal.Unauthorized, "the claim of this token is no longer admitted: say hello again")
	}
	if tx.woken {
		return nil
	}
	if tx.undisputed() && tx.Now.Sub(incumbent.Seen) < recordEvery {
		return nil
	}
	if tx.step(admission.Speak{Claim: admission.Claim{ID: record.Claim}}).Standing != admission.Admitted {
		return refusal.New(refusal.Unauthorized, "the claim of this token has ended: say hello again")
	}
	return nil
}

// recordRequest stores when a claim, or the incumbent that it has become, last made a request. One that follows a
// recorded one within moments is not stored: anybody may send it.
func (tx *nodeTx) recordRequest(claim admission.Claim) (out admission.Outcome, recorded bool) {
	before, listed := claim.Seen, tx.lists(claim.ID)
	out = tx.step(admission.Speak{Claim: claim})
	if out.Standing != admission.Waiting || !listed || tx.Now.Sub(before) >= recordEvery {
		return out, out.Standing != admission.Waiting || tx.lists(claim.ID)
	}
	for i := range tx.Admission().Claims {
		if shown := &tx.Admission().Claims[i]; shown.ID == claim.ID {
			shown.Seen = before
		}
	}
	return out, false
}

// rights of the holder of a token.
func (tx *nodeTx) rights(record *token.Record) admission.Rights {
	if record.Purpose != token.Boot {
		return admission.Rights{Plan: true, Secrets: true}
	}
	return tx.in.DB.Policy.May(tx.Tx, record.Claim)
}

// withheld returns why an incumbent may not have secrets yet, and records that it waits; empty: it may have them.
func (tx *nodeTx) withheld(record *token.Record) string {
	may := tx.rights(record)
	if may.Secrets {
		tx.Status().Withheld = time.Time{}
		return ""
	}
	if tx.Status().Withheld.IsZero() {
		tx.Status().Withheld = tx.Now
		run := tx.Status().Run
		event := api.Event{Kind: "hold", Generation: tx.Generation(), Run: run.Number, Detour: run.Detour,
			Detail: nodetext.Clean(may.Reason)}
		if !may.Until.IsZero() {
			event.Seconds = may.Until.Sub(tx.Now).Seconds()
		}
		tx.AddEvent(event)
	}
	return may.Reason
}

// maySecrets refuses what is withheld from an incumbent: it is to be repeated. The record that it waits is stored.
func (tx *nodeTx) maySecrets(record *token.Record) error {
	if reason := tx.withheld(record); reason != "" {
		return refusal.New(refusal.Withheld, "not yet: %s", reason)
	}
	return nil
}

// isAsked reports whether the incumbent is asked whether it lives, while its poll waits.
func (tx *nodeTx) isAsked() bool {
	return tx.woken && !tx.Admission().Incumbent.Asked.IsZero()
}

// leaves reports whether a line is the end of a step that leaves the Sled system.
func leaves(line report.Line) bool {
	step, _ := plan.VerbOf(line.Verb)
	return line.Kind == report.End && line.Code == 0 && step.Leaves
}

// secret reports whether a line is the end of a step whose result is believed.
func secret(line report.Line) bool {
	step, _ := plan.VerbOf(line.Verb)
	return line.Kind == report.End && line.Code == 0 && (step.Secret || !line.HostKey.IsZero())
}

// sentAgain reports whether the incumbent repeats a report after it has left: the response was lost.
func (tx *nodeTx) sentAgain(bearer string, sent report.Report, earlier []api.Event) bool {
	i := token.Find(tx.Tokens(), bearer, tx.Now)
	if i < 0 || tx.Tokens()[i].Claim == "" || tx.Tokens()[i].Claim != tx.Admission().Left {
		return false
	}
	return !slices.ContainsFunc(sent.Lines, func(line report.Line) bool {
		return line.Kind != report.Progress && !alreadyApplied(earlier, sent, line)
	})
}
