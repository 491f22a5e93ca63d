// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

func (e Leave) apply(w *work) {
	if w.Incumbent == nil || w.Incumbent.ID != e.ID {
		return
	}
	w.answered()
	w.end("it left the Sled system")
	w.Left = e.ID
	// The boot that was expected has happened.
	w.Window, w.Rival, w.Overdue = nil, time.Time{}, false
}

func (e Describe) apply(w *work) {
	claim := w.claim(func(claim *Claim) bool { return claim.ID == e.ID })
	if claim == nil || claim.Facts {
		return
	}
	claim.Facts, claim.Seen = true, w.Now
	w.out.Standing = Waiting
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
	w.Window = &Window{Opened: w.Now, Ends: w.Now.Add(e.For), By: e.By}
	w.Rival, w.Overdue, w.Boots = time.Time{}, false, 0
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
	if claim == nil {
		return
	}
	claim.add(evidence)
	claim.Admitted, w.Boots = w.Now, 0
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
	w.drop(func(claim Claim) bool { return claim.Code == e.Code })
	if w.Incumbent != nil && w.claim(func(claim *Claim) bool { return claim.Rival }) == nil {
		w.Incumbent.Contested = false
		w.Rival, w.Overdue = time.Time{}, false
	}
}

func (Revoke) apply(w *work) {
	if w.Incumbent != nil {
		w.end("revoked by an operator")
	}
}
