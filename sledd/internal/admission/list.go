// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"time"
)

// recent is how long a claim is not replaced in the list by one whose link is known less well.
const recent = 2 * time.Minute

func (e Arrive) apply(w *work) {
	claim := e.Claim
	claim.Since, claim.Seen, claim.Epoch = w.Now, w.Now, w.Epoch
	added, listed := &claim, false
	if !e.Bare {
		added, listed = w.list(claim)
	}
	if listed {
		if claim.Link == LinkOther {
			w.note(LinkAlarm, claim, "its address belongs to "+claim.holder())
		}
		w.note(Claimed, claim, "")
	}
	w.challenge(added)
	w.wait(w.judge(added))
}

// present returns the claim of a request: the listed one, or that of the token, with the evidence that was found for
// it. nil: it has ended.
func (w *work) present(claim Claim) *Claim {
	if listed := w.claim(func(other *Claim) bool { return other.ID == claim.ID }); listed != nil {
		return listed
	}
	if !w.Holds(claim, w.Now, w.Rules) {
		return nil
	}
	w.collect(&claim)
	claim.Seen = w.Now
	shown, _ := w.list(claim)
	return shown
}

// Holds reports whether a claim that is not listed still is one.
func (s *State) Holds(claim Claim, now time.Time, rules Rules) bool {
	return claim.Epoch == s.Epoch && now.Before(claim.Since.Add(rules.ClaimAge)) && !slices.Contains(s.Ended, claim.ID)
}

// collect adds to a claim the evidence that was found for its code while it was not listed.
func (w *work) collect(claim *Claim) {
	w.Proofs = slices.DeleteFunc(w.Proofs, func(proof Proof) bool {
		if proof.Code != claim.Code || proof.At.Before(claim.Since.Truncate(time.Second)) {
			return false
		}
		claim.add(proof.Evidence)
		if proof.Evidence == Person {
			claim.Admitted, claim.Operator = proof.At, proof.Operator
		}
		return true
	})
}

// list adds a claim to those that are stored, if there is room, or if it may replace another one. A claim that is
// replaced has not ended. The result is the listed claim, or one that ends with the step.
func (w *work) list(claim Claim) (*Claim, bool) {
	if len(w.Claims) >= w.Rules.Claims {
		worst := slices.MinFunc(w.Claims, func(a, b Claim) int {
			if order := a.rank() - b.rank(); order != 0 {
				return order
			}
			return a.Seen.Compare(b.Seen)
		})
		if !w.replaces(&claim, &worst) {
			return &claim, false
		}
		w.drop(func(other Claim) bool { return other.ID == worst.ID })
	}
	w.Claims, w.Listed = append(w.Claims, claim), w.Now
	return &w.Claims[len(w.Claims)-1], true
}

// replaces reports whether a claim takes the place of another one in the list.
func (w *work) replaces(claim, other *Claim) bool {
	switch {
	case claim.rank() == proven:
		return true
	case other.rank() == proven, claim.rank() == wrong && other.rank() > wrong:
		return false
	case claim.rank() < other.rank() && w.Now.Before(other.Seen.Add(recent)):
		return false
	case claim.rank() > other.rank():
		return true
	}
	return !w.Now.Before(w.Listed.Add(w.Rules.Listing))
}

// The ranks of claims in the list.
const (
	wrong = iota // the address belongs to another MAC
	routed
	near
	proven // it has evidence
)

func (c *Claim) rank() int {
	switch {
	case len(c.Evidence) > 0:
		return proven
	case c.Link == LinkOther:
		return wrong
	case c.Link == LinkSame:
		return near
	}
	return routed
}

// prove keeps evidence for a claim that is not listed. Of each kind the newest are kept.
func (w *work) prove(proof Proof) {
	same := func(other Proof) bool { return other.Code == proof.Code && other.Evidence == proof.Evidence }
	if i := slices.IndexFunc(w.Proofs, same); i >= 0 {
		return // it is not newer: a code is printed again and again
	}
	oldest, kept := -1, 0
	for i, other := range w.Proofs {
		if other.Evidence == proof.Evidence {
			if kept++; oldest < 0 || other.At.Before(w.Proofs[oldest].At) {
				oldest = i
			}
		}
	}
	if kept >= w.Rules.Proofs {
		if !proof.At.After(w.Proofs[oldest].At) {
			return
		}
		w.Proofs = slices.Delete(w.Proofs, oldest, oldest+1)
	}
	w.Proofs = append(w.Proofs, proof)
	w.Calls++
}

// forget ends a claim whose token is not too old. When too many are remembered, all claims that are not listed end.
func (w *work) forget(id string) {
	if len(w.Ended) >= w.Rules.Ended {
		w.Epoch, w.Ended = w.Epoch+1, nil
	}
	w.Ended = append(w.Ended, id)
}

func (e Flood) apply(w *work) {
	w.note(FloodAlarm, Claim{}, fmt.Sprintf("%d claims to be the node within a minute", e.Claims))
}
