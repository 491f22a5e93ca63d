// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"time"
)

// noSecret admits at level expected without a window: all that an impostor gains is that the node seems to run.
const noSecret = "no secret"

// verdict on a claim that asks to be admitted.
type verdict struct {
	admit  bool
	level  Level
	by     string
	want   []Want
	reason string
	next   time.Time
}

// judge decides whether a claim is admitted now.
func (w *work) judge(claim *Claim) verdict {
	required := w.Required(w.Node)
	if reason := w.closed(); reason != "" {
		return verdict{want: []Want{WantWindow}, reason: reason}
	}
	if w.Incumbent != nil && !w.displaces(claim) {
		if until := w.silentAt(); until.IsZero() || w.Now.Before(until) {
			return verdict{want: w.wants(required, WantSilence), next: until, reason: "the incumbent at " +
				w.Incumbent.Address + " may be alive"}
		}
	}
	level := claim.level()
	switch {
	case w.exhausted(claim):
		return verdict{want: []Want{WantWindow, WantPerson}, reason: fmt.Sprintf("%d boots without an act of an operator",
			w.Boots)}
	case level >= Proven && level >= required:
		return verdict{admit: true, level: level, by: string(claim.strongest())}
	case w.returns(claim, required):
		return verdict{admit: true, level: w.Back.Level, by: w.Back.by()}
	case required >= Proven:
		return verdict{want: w.wants(required), reason: fmt.Sprintf("level %s needs evidence", required)}
	case claim.Link == LinkOther:
		return verdict{want: w.wants(Proven), reason: "its address belongs to " + claim.holder()}
	case !claim.Admitted.IsZero():
		return verdict{admit: true, level: Expected, by: string(Unseen)}
	case w.Node.Local && w.Window == nil:
		return verdict{want: w.wants(required, WantWindow), reason: "the node runs from its disk"}
	case required == Open:
		return verdict{admit: true, level: Open, by: "open"}
	}
	return w.judgeExpected(required)
}

// closed returns why nobody is admitted at all; empty: somebody may be.
func (w *work) closed() string {
	if w.HandedOver.IsZero() {
		return ""
	}
	return "the machine changes hands: reset it (expect with revoke)"
}

// judgeExpected decides about a claim without evidence at level expected.
func (w *work) judgeExpected(required Level) verdict {
	waits := func(format string, values ...any) verdict {
		return verdict{want: w.wants(required, WantWindow), reason: fmt.Sprintf(format, values...)}
	}
	switch {
	case !w.Rival.IsZero():
		return waits("the node is contested")
	case w.Window != nil:
		return verdict{admit: true, level: Expected, by: "window"}
	case w.Node.Harmless:
		return verdict{admit: true, level: Expected, by: noSecret}
	case w.Incumbent == nil:
		return waits("no boot was expected")
	case !w.Node.Unfinished:
		return waits("the node has nothing to finish, and no boot was expected")
	case w.Now.After(w.Incumbent.Seen.Add(w.Rules.Retry)):
		return waits("the incumbent before was silent for longer than %s", w.Rules.Retry)
	}
	return verdict{admit: true, level: Expected, by: "succession"}
}

// Attended returns the claims that are admitted only if somebody acts, and the incumbent if its level does not suffice
// any more. One whose address belongs to another MAC is
// none of them: it is an alarm.
func (s *State) Attended(in Input) []Claim {
	w := &work{State: s.clone(), Input: in}
	w.renew()
	w.expire()
	var list []Claim
	if w.Incumbent != nil && w.Incumbent.Level < w.Required(w.Node) {
		list = append(list, w.Incumbent.Claim)
	}
	for i := range w.Claims {
		claim := &w.Claims[i]
		verdict := w.judge(claim)
		if !verdict.admit && claim.Link != LinkOther && slices.Contains(verdict.want, WantPerson) &&
			!slices.Contains(verdict.want, WantSilence) {
			list = append(list, *claim)
		}
	}
	return list
}

// displaces reports whether a claim ends a living incumbent: an operator admitted it, or it has the evidence that the
// incumbent lacks.
func (w *work) displaces(claim *Claim) bool {
	return !claim.Admitted.IsZero() || w.Incumbent.Level < Proven && claim.level() >= Proven
}

// silentAt returns from when on the incumbent counts as silent if it does not speak; zero: it was not asked yet.
func (w *work) silentAt() time.Time {
	if w.Incumbent.Asked.IsZero() {
		return time.Time{}
	}
	return later(w.Incumbent.Seen.Add(w.Rules.Silence), w.Incumbent.Asked.Add(w.Rules.Answer))
}

// exhausted reports whether the node was admitted so often without an operator that no more is done by itself.
func (w *work) exhausted(claim *Claim) bool {
	byOperator := !claim.Admitted.IsZero() || claim.strongest() == Ticket
	return w.Node.Unfinished && w.Boots >= w.Rules.Boots && !byOperator
}

// wants lists what would admit a claim at a level, beside what it is given.
func (w *work) wants(required Level, first ...Want) []Want {
	switch required {
	case Attested:
		return append(first, WantTPM)
	case Proven, Expected:
		return append(first, WantConsole, WantPerson)
	case Open:
	}
	return first
}
