// SPDX-License-Identifier: Apache-2.0

package wish

// OnDrift says what a plan does about a wish that somebody else changed.
type OnDrift string

// The ways.
const (
	Warn    OnDrift = "warn"    // tells it, and plans nothing
	Reimage OnDrift = "reimage" // plans the declared wish again
	Ignore  OnDrift = "ignore"  // neither
)

// Situation of one node in a plan.
type Situation struct {
	Declared  Wish // as the last apply, or the last look, left it
	Stored    Wish // as sledd has it now
	Planned   Wish
	Touched   bool // something else would be sent that raises no generation by itself, such as another mode
	Triggered bool // a new generation is asked for, whatever changed
	OnDrift   OnDrift
}

// Drifted says whether somebody else changed the wish.
func (s Situation) Drifted() bool { return !s.Declared.Same(s.Stored) }

// Verdict on a situation.
type Verdict int

// The verdicts.
const (
	Settled   Verdict = iota // what is planned is stored already: the generation stays
	Again                    // a new generation
	Tolerated                // drifted, and left alone: nothing is sent, the state stays
	Blocked                  // drifted, but something would be sent: that would wipe what somebody else wished for
)

// Decide says what comes of a situation. A wipe needs a reason in the configuration: another wish, a trigger, or on_drift = reimage.
func Decide(s Situation) Verdict {
	switch {
	case s.Triggered:
		return Again
	case s.Planned.Same(s.Stored):
		return Settled
	case !s.Drifted() || s.OnDrift == Reimage:
		return Again
	case s.Planned.Same(s.Declared) && !s.Touched:
		return Tolerated
	default:
		return Blocked
	}
}
