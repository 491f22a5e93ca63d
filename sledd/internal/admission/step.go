// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"time"
)

// Input of a step.
type Input struct {
	Now   time.Time
	Rules Rules
	Node  Node
	Event Event
}

// Step applies one event. The state that it is given stays as it is.
func Step(state State, in Input) (State, Outcome) {
	w := &work{State: state.clone(), Input: in}
	w.renew()
	w.expire()
	if w.Incumbent != nil && w.Incumbent.By == noSecret && !w.Node.Harmless {
		w.reset("it was admitted without a window, and the node has a secret now")
		w.out.Standing = Unknown // its request is not its own end
	}
	w.OnDisk = w.OnDisk || w.Node.Local
	if w.runsPayload() {
		w.Payload = w.Now
	}
	in.Event.apply(w)
	return w.State, w.out
}

// work is a step that is being made.
type work struct {
	State
	Input
	out Outcome
}

func (w *work) note(kind Kind, claim Claim, reason string) {
	w.out.Notes = append(w.out.Notes, Note{Kind: kind, Claim: claim, Reason: reason})
}

// renew starts another generation.
func (w *work) renew() {
	if w.Generation == w.Node.Generation {
		return
	}
	w.Generation, w.Floor, w.Boots = w.Node.Generation, Open, 0
	if w.Incumbent != nil {
		w.Floor = w.Incumbent.Level
	}
}

// expire ends what has ended by time.
func (w *work) expire() {
	w.drop(func(claim Claim) bool {
		return !w.Now.Before(claim.Seen.Add(w.Rules.ClaimIdle)) || !w.Now.Before(claim.Since.Add(w.Rules.ClaimAge))
	})
	w.Proofs = slices.DeleteFunc(w.Proofs, func(p Proof) bool { return !w.Now.Before(p.At.Add(w.Rules.ClaimAge)) })
	if w.Window != nil && !w.Now.Before(w.Window.Ends) {
		w.Window = nil
	}
	if w.Incumbent != nil {
		switch {
		case !w.Now.Before(w.Incumbent.Seen.Add(w.Rules.IncumbentLag)):
			w.end(fmt.Sprintf("silent for %s", w.Rules.IncumbentLag))
		case !w.Now.Before(w.Incumbent.At.Add(w.Rules.IncumbentAge)):
			w.end(fmt.Sprintf("admitted %s ago", w.Rules.IncumbentAge))
		}
	}
	if !w.Rival.IsZero() && !w.Overdue && !w.Now.Before(w.Rival.Add(w.Rules.ClaimAge)) {
		w.Overdue, w.Window = true, nil
		w.note(WindowAlarm, Claim{}, fmt.Sprintf("contested for %s%s", w.Rules.ClaimAge, w.codes()))
	}
}

// codes lists the claims for a reason.
func (w *work) codes() string {
	text := ""
	for _, claim := range w.Claims {
		text += ", claim " + claim.Code + " from " + claim.Address
	}
	return text
}

// end ends the incumbent.
func (w *work) end(reason string) {
	w.LastWord = later(w.LastWord, w.Incumbent.Seen)
	w.note(Left, w.Incumbent.Claim, reason)
	w.forget(w.Incumbent.ID)
	w.Incumbent = nil
	w.Calls++
}

func (Tick) apply(*work) {}

// challenge records a request from a second claim; the incumbent must now prove that it is alive.
func (w *work) challenge(claim *Claim) {
	if w.Incumbent == nil || claim.Link == LinkOther && claim.level() < Proven {
		return
	}
	claim.Spoke = claim.Spoke || claim.Link != LinkOther
	if w.Incumbent.Asked.IsZero() && !w.Now.Before(w.Incumbent.LastAsked.Add(w.Rules.Answer)) {
		w.Incumbent.Asked, w.Incumbent.LastAsked = w.Now, w.Now
		w.out.Wake = true
	}
}

func (e Speak) apply(w *work) {
	if w.Incumbent != nil && w.Incumbent.ID == e.Claim.ID {
		w.answered()
		return
	}
	claim := w.present(e.Claim)
	if claim == nil {
		return
	}
	claim.Seen = w.Now
	w.challenge(claim)
	verdict := w.judge(claim)
	if verdict.admit {
		w.admit(*claim, verdict)
		return
	}
	w.wait(verdict)
}

// answered records a request from the incumbent: it is alive, so every claim that made one since is a rival.
func (w *work) answered() {
	incumbent := w.Incumbent
	incumbent.Seen, incumbent.Asked = w.Now, time.Time{}
	w.out.Standing = Admitted
	for i := range w.Claims {
		claim := &w.Claims[i]
		if !claim.Spoke || claim.Rival {
			continue
		}
		claim.Rival = true
		w.note(RivalAlarm, *claim, "the incumbent at "+incumbent.Address+" lives; link of the rival: "+string(claim.Link))
		if incumbent.Level == Expected {
			incumbent.Contested = true
			w.Rival, w.Overdue = w.Now, false
		}
	}
}

func (w *work) wait(v verdict) {
	w.out.Standing, w.out.Want, w.out.Reason, w.out.Next = Waiting, v.want, v.reason, v.next
}

// admit makes a claim the incumbent.
func (w *work) admit(claim Claim, v verdict) {
	w.Claims = slices.DeleteFunc(w.Claims, func(other Claim) bool { return other.ID == claim.ID })
	if before := w.Incumbent; before != nil {
		if w.Now.Before(before.Seen.Add(w.Rules.Silence)) || before.Contested {
			w.note(Void, before.Claim, "another claim was admitted in its place")
		}
		w.end("succeeded by " + claim.Code)
	}
	holdFrom := w.holdFrom(claim)
	if v.by == string(Return) {
		holdFrom = w.heldBefore(holdFrom)
		w.LastWord = holdFrom // its own word before it left was none of another machine
	}
	if !w.isReturn(&claim) {
		claim.From = ""
	}
	claim.Spoke, claim.Rival, w.Left, w.Back, w.OnDisk = false, false, "", nil, w.Node.Local
	w.Incumbent = &Incumbent{Claim: claim, Level: v.level, By: v.by, At: w.Now, HoldFrom: holdFrom}
	if w.Window != nil && w.Window.Reset {
		w.Incumbent.Start = claim.Since.Sub(w.Window.Opened)
	}
	w.Floor = max(w.Floor, v.level)
	for i := range w.Claims {
		w.Claims[i].Spoke = false
	}
	if v.level >= Proven && v.by != string(Return) || !claim.Admitted.IsZero() {
		w.settle()
	}
	w.out.Standing = Admitted
	w.out.Notes = append(w.out.Notes, Note{Kind: AdmittedAs, Claim: claim, Level: v.level, Reason: v.by})
	if w.Node.Unfinished && !w.Incumbent.Returned() {
		if w.Boots++; w.Boots == w.Rules.Boots {
			w.note(BootsAlarm, claim, fmt.Sprintf("%d admissions without an act of an operator", w.Boots))
		}
	}
}

// holdFrom is the newest time at which the node may have been another machine: the boot was expected, or another claim
// or the incumbent before spoke last.
func (w *work) holdFrom(claim Claim) time.Time {
	newest := later(w.LastWord, claim.Admitted)
	if w.Window != nil {
		newest = later(newest, w.Window.Opened)
	}
	for _, other := range w.Claims {
		newest = later(newest, other.word())
	}
	return newest
}

// settle ends a contest: evidence or an operator's word has decided who the node is. Rivals are refused.
func (w *work) settle() {
	w.Rival, w.Overdue = time.Time{}, false
	w.drop(func(claim Claim) bool { return claim.Rival })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
