// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Policy is how a site admits claims. The zero value is level open with the default rules.
type Policy struct {
	Level admission.Level
	Rules admission.Rules
	// Starts of all machines; nil: only those of a node itself are known.
	Starts *Starts
}

// rules returns the rules, the default ones when there are none.
func (p Policy) rules() admission.Rules {
	if p.Rules == (admission.Rules{}) {
		return admission.DefaultRules()
	}
	return p.Rules
}

// Unfinished reports whether the binding of the node has something left to do at its next boot.
func (tx *Tx) Unfinished() bool {
	return tx.Binding() != nil && !tx.Satisfied() && !boot.Local(*tx.Status(), tx.Bound())
}

// BootsDisk reports whether the node boots its own disk. While the store is on hold, every machine does.
func (tx *Tx) BootsDisk() bool {
	return tx.Held() || tx.Detour() == nil && boot.Local(*tx.Status(), tx.Bound())
}

// Bound is what decides about the boot of a bound node.
func (tx *Tx) Bound() boot.Bound {
	return boot.Bound{Is: tx.Binding() != nil, Generation: tx.Generation(), Memory: tx.Binding().Memory()}
}

// RunsPayload reports whether a payload has the console, of a job or of the binding. The system of a root that runs
// from memory has the secrets of its binding, so that it gains nothing by what it prints, until another one is bound.
func (tx *Tx) RunsPayload() bool {
	status, bound := tx.Status(), tx.Binding()
	if tx.Job() != nil && tx.Job().State == api.JobRunning || status.Run.Payload {
		return true
	}
	if !status.Memory || status.Phase != api.Starting && !status.Phase.Installed() && status.Phase != api.Failed {
		return false
	}
	return bound == nil || bound.Generation != status.Generation || bound.Payload() != nil
}

func (p Policy) node(tx *Tx) admission.Node {
	level := max(p.Level, levelOf(tx.Spec().Admission))
	if binding := tx.Binding(); binding != nil {
		level = max(level, levelOf(binding.Admission))
	}
	return admission.Node{Level: level, Generation: tx.Generation(), Local: tx.BootsDisk(),
		Unfinished: tx.Detour() != nil || tx.Binding() != nil && !tx.Satisfied(),
		Payload:    tx.RunsPayload(),
		Memory:     tx.Binding().Memory(),
		Harmless:   tx.Detour() == nil && tx.Binding().Harmless() && !tx.HandsOver(),
		Start:      max(tx.Admission().Slowest(), p.Starts.of(tx.MAC))}
}

// WaitsAfterPowerCut is why a node that runs from memory waits for an operator after a power cut, in a line for people;
// empty: it is admitted without one.
func (p Policy) WaitsAfterPowerCut(tx *Tx, recorded bool) string {
	level, bound := p.node(tx).Level, tx.Binding()
	var why []string
	if len(bound.AuthorizedKeys) > 0 {
		why = append(why, "keys")
	}
	if bound.UserDataSHA256 != "" {
		why = append(why, "user data")
	}
	if len(why) == 0 && level > admission.Expected {
		why = append(why, "level "+level.String())
	}
	if level == admission.Open || recorded || len(why) == 0 {
		return ""
	}
	return "it has " + strings.Join(why, " and ") + ", so after a power cut it waits for an operator: its console is " +
		"not recorded (docs/admission.md)"
}

// levelOf reads the level that a record requires. One that a later version wrote counts as the highest.
func levelOf(text string) admission.Level {
	if text == "" {
		return admission.Open
	}
	level, err := admission.ParseLevel(text)
	if err != nil {
		return admission.Attested
	}
	return level
}

// Step applies an event to the node's admission, and records what it did.
func (p Policy) Step(tx *Tx, event admission.Event) admission.Outcome {
	before := tx.Admission().Incumbent
	next, out := admission.Step(*tx.Admission(), admission.Input{Now: tx.Now, Rules: p.rules(), Node: p.node(tx),
		Event: event})
	*tx.Admission() = next
	for _, note := range out.Notes {
		detail := tx.noteText(note)
		if !note.Kind.Alarm() || tx.Admission().Raise(note.Kind, note.Claim.Address, detail, tx.Now) {
			tx.AddEvent(tx.noteEvent(note, detail, before))
		}
	}
	if before != nil && (next.Incumbent == nil || next.Incumbent.ID != before.ID) && next.Left != before.ID {
		tx.SetTokens(token.WithoutClaim(tx.Tokens(), before.ID))
	}
	if out.Reset {
		tx.SetTokens(token.Without(tx.Tokens(), token.Ticket))
	}
	return out
}

// Look returns the admission without what has ended by time. It changes nothing.
func (p Policy) Look(tx *Tx) admission.State {
	state, _ := admission.Step(*tx.Admission(), p.input(tx))
	return state
}

// Attended returns the claims that are admitted only if somebody acts.
func (p Policy) Attended(tx *Tx) []admission.Claim { return tx.Admission().Attended(p.input(tx)) }

func (p Policy) input(tx *Tx) admission.Input {
	return admission.Input{Now: tx.Now, Rules: p.rules(), Node: p.node(tx), Event: admission.Tick{}}
}

// noteText is a note as the detail of an event.
func (tx *Tx) noteText(note admission.Note) api.Prose {
	text := note.Claim.Code
	if note.Claim.Address != "" {
		text += " from " + note.Claim.Address
	}
	switch {
	case note.Kind == admission.AdmittedAs:
		text += " at level " + note.Level.String() + " by " + note.Reason
	case note.Reason != "" && text != "":
		text += ": " + note.Reason
	default:
		text += note.Reason
	}
	if reason := tx.Status().Reason; note.Kind == admission.BootsAlarm && !reason.IsZero() {
		text += "; last failure: " + reason.String()
	}
	return nodetext.Clean(text)
}

// Holds reports whether a claim that is not listed is one of the node.
func (p Policy) Holds(tx *Tx, claim admission.Claim) bool {
	return tx.Admission().Holds(claim, tx.Now, p.rules())
}

// Required returns the level that a claim to be the node must reach.
func (p Policy) Required(tx *Tx) admission.Level { return tx.Admission().Required(p.node(tx)) }

// May returns the rights of the claim or incumbent with an ID.
func (p Policy) May(tx *Tx, id string) admission.Rights {
	return tx.Admission().May(id, p.rules(), p.node(tx), tx.Now)
}

// MayReturn returns why the incumbent gets no ticket for its next boot; empty: it gets one.
func (p Policy) MayReturn(tx *Tx) string { return tx.Admission().MayReturn(p.rules()) }

// RivalTime is how long secrets are withheld at level expected.
func (p Policy) RivalTime() time.Duration { return p.rules().Hold }
