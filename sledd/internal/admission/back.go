// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// back returns what a claim is worth that returns from the incumbent, which leaves; nil: nothing, because it is not
// known whether the incumbent is the node. What a system measured of itself does not hold for the next one.
func (w *work) back() *Back {
	if w.Incumbent.Contested {
		return nil
	}
	holdFrom := later(w.Incumbent.HoldFrom, w.LastWord)
	for _, other := range w.Claims {
		holdFrom = later(holdFrom, other.word())
	}
	return &Back{ID: w.Incumbent.ID, Level: min(w.Incumbent.Level, Proven), HoldFrom: holdFrom,
		NoSecret: w.Incumbent.By == noSecret}
}

// by is what admits the claim that returns. Without a window, that is what admitted the incumbent.
func (b *Back) by() string {
	if b.NoSecret {
		return noSecret
	}
	return string(Return)
}

// isReturn reports whether a claim is the next boot of the incumbent that left last, whatever admits it.
func (w *work) isReturn(claim *Claim) bool {
	return w.Back != nil && claim.From != "" && claim.From == w.Back.ID
}

// returns reports whether that alone admits a claim.
func (w *work) returns(claim *Claim, required Level) bool {
	switch {
	case !w.isReturn(claim):
		return false
	case claim.Link == LinkOther || !w.Rival.IsZero() || w.Back.Level < required, w.Back.NoSecret && !w.Node.Harmless:
		return false
	}
	return w.Back.Level >= Proven || !w.Node.Local || w.Window != nil
}

// heldBefore returns the start of the hold of the incumbent that left last, if nobody else spoke since: else the newest
// such word. Its leaving was the last word, and started the epoch.
func (w *work) heldBefore(holdFrom time.Time) time.Time {
	if holdFrom.After(w.Reset) {
		return holdFrom
	}
	return w.Back.HoldFrom
}

// MayReturn returns why the incumbent gets no ticket for its next boot; empty: it gets one.
func (s *State) MayReturn(rules Rules) string {
	switch {
	case s.Incumbent == nil:
		return "the node has no incumbent"
	case s.Incumbent.Contested || !s.Rival.IsZero():
		return "another machine claims to be the node"
	case s.Boots >= rules.Boots:
		return "claims wait for an act of an operator"
	}
	return ""
}
