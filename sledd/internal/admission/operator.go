// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"time"
)

func (e Leave) apply(w *work) {
	if w.Incumbent == nil || w.Incumbent.ID != e.ID {
		return
	}
	w.answered()
	w.measured()
	back := w.back()
	w.end("it left the Sled system")
	w.Left = e.ID
	w.void()
	w.Back = back
	// The boot that was expected has happened.
	w.Window, w.Rival, w.Overdue = nil, time.Time{}, false
}

func (e Describe) apply(w *work) {
	claim := w.present(e.Claim)
	if claim == nil || claim.Facts {
		return
	}
	claim.Facts, claim.Seen = true, w.Now
	w.out.Standing = Waiting
}

func (e Seed) apply(w *work) {
	if w.Incumbent == nil || w.Incumbent.ID != e.ID {
		return
	}
	w.out.Standing = Admitted
	before, now := w.Seeded, &Seeded{Generation: w.Node.Generation, ID: e.ID, Address: w.Incumbent.Address, At: w.Now}
	if before != nil && before.Generation == now.Generation && !w.Node.Memory {
		if before.ID == e.ID {
			return // sent again
		}
		w.note(SeedAlarm, w.Incumbent.Claim, fmt.Sprintf("another boot at %s got the seed of generation %d at %s",
			before.Address, before.Generation, before.At.UTC().Format(time.RFC3339)))
	}
	w.Seeded = now
}

func (e Show) apply(w *work) {
	if !w.console() || !e.At.After(w.lastChange()) || !w.Now.Before(e.At.Add(w.Rules.ClaimAge)) {
		return
	}
	claim := w.claim(func(claim *Claim) bool { return claim.Code == e.Code })
	if w.Incumbent != nil && w.Incumbent.Code == e.Code {
		claim = &w.Incumbent.Claim
	}
	switch {
	case claim == nil:
		w.prove(Proof{Code: e.Code, Evidence: Console, At: e.At})
	case !slices.Contains(claim.Evidence, Console) && !e.At.Before(claim.Since.Truncate(time.Second)):
		Prove{Code: e.Code, Evidence: Console}.apply(w)
	}
}

// console reports whether what the console shows may be evidence: not while an installed system has it, unless a boot
// is expected, and not while a payload runs.
func (w *work) console() bool {
	return !w.runsPayload() && (w.Window != nil || !w.OnDisk && !w.Node.Local)
}

// runsPayload reports whether the payload of a job may run: not since the machine was reset.
func (w *work) runsPayload() bool { return w.Node.Payload && (w.Window == nil || !w.Window.Reset) }

// lastChange is the newest time at which the machine may have run another system than that of a claim, or a payload.
func (w *work) lastChange() time.Time {
	newest := later(w.Reset, w.Payload)
	if w.Window == nil {
		return newest
	}
	return later(newest, w.Window.Opened)
}

func (e Prove) apply(w *work) {
	if w.Incumbent != nil && w.Incumbent.Code == e.Code {
		w.Incumbent.add(e.Evidence)
		w.raise(e.Evidence.Level() >= Proven)
		return
	}
	claim := w.claim(func(claim *Claim) bool { return claim.Code == e.Code })
	if claim == nil {
		return
	}
	claim.add(e.Evidence)
	w.Calls++
	w.wait(w.judge(claim))
}

// raise sets the level of the incumbent to that of its evidence. decided: it is clear that it is the node.
func (w *work) raise(decided bool) {
	if level := w.Incumbent.level(); level > w.Incumbent.Level {
		w.Incumbent.Level, w.Incumbent.By = level, string(w.Incumbent.strongest())
		w.Floor = max(w.Floor, level)
		w.out.Notes = append(w.out.Notes, Note{Kind: AdmittedAs, Claim: w.Incumbent.Claim, Level: level,
			Reason: w.Incumbent.By})
	}
	if decided {
		w.Incumbent.Contested = false
		w.settle()
	}
	w.out.Standing = Admitted
}

func (e Expect) apply(w *work) {
	if e.Reset {
		w.reset("its machine was reset")
		w.HandedOver = time.Time{}
	}
	w.Window = &Window{Opened: w.Now, Ends: w.Now.Add(e.For), By: e.By, Reset: e.Reset}
	w.Rival, w.Overdue, w.Boots, w.OnDisk = time.Time{}, false, 0, false
	w.Calls++
}

func (e Admit) apply(w *work) {
	evidence := Person
	if e.Unseen {
		evidence = Unseen
	}
	if w.Incumbent != nil && w.Incumbent.Code == e.Code {
		w.Incumbent.add(evidence)
		w.Boots = 0
		w.raise(true)
		return
	}
	claim := w.claim(func(claim *Claim) bool { return claim.Code == e.Code })
	if claim == nil && !e.Unseen && len(w.Claims) >= w.Rules.Claims { // it need not be listed
		w.out.Standing, w.out.Reason = Waiting, w.closed()
		w.prove(Proof{Code: e.Code, Evidence: Person, At: w.Now, Operator: e.By})
		w.Boots = 0
		return
	}
	if claim == nil {
		return
	}
	claim.add(evidence)
	claim.Admitted, claim.Operator, w.Boots = w.Now, e.By, 0
	w.Calls++
	w.wait(w.judge(claim))
}

func (e Refuse) apply(w *work) {
	claim := w.claim(func(claim *Claim) bool { return claim.Code == e.Code })
	if claim == nil {
		return
	}
	w.out.Standing = Waiting
	w.note(Refused, *claim, "by an operator")
	w.forget(claim.ID)
	w.drop(func(claim Claim) bool { return claim.Code == e.Code })
	if w.Incumbent != nil && w.claim(func(claim *Claim) bool { return claim.Rival }) == nil {
		w.Incumbent.Contested = false
		w.Rival, w.Overdue = time.Time{}, false
	}
}

func (Revoke) apply(w *work) { w.reset("revoked by an operator") }

func (HandOver) apply(w *work) {
	w.reset("the machine changes hands")
	w.HandedOver, w.Window, w.Rival, w.Overdue = w.Now, nil, time.Time{}, false
}

// reset ends all that ran before. Neither a claim nor evidence of before counts from here on.
func (w *work) reset(reason string) {
	if w.Incumbent != nil {
		w.end(reason)
		w.out.Standing = Admitted
	}
	w.void()
	w.out.Reset = true
}

// void starts another epoch.
func (w *work) void() {
	w.drop(func(Claim) bool { return true })
	w.Epoch, w.Reset, w.Proofs, w.Ended, w.Back = w.Epoch+1, w.Now, nil, nil, nil
	w.Calls++
}
