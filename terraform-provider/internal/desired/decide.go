// SPDX-License-Identifier: Apache-2.0

package desired

// OnDrift is what a plan does about a desired state that somebody else changed.
type OnDrift string

// The values of on_drift.
const (
	Warn    OnDrift = "warn"    // warns and plans nothing
	Reimage OnDrift = "reimage" // plans the declared state again
	Ignore  OnDrift = "ignore"  // neither
	Fail    OnDrift = "fail"    // refuses to plan anything
)

// Situation of one node in a plan.
type Situation struct {
	Declared  State // as the last apply or refresh left it
	Stored    State // as sledd has it now
	Planned   State
	Touched   bool // something else would be sent that raises no generation by itself, such as another mode
	Triggered bool // a new generation is requested, whatever changed
	Absent    bool // somebody else took the binding away: nothing is stored
	OnDrift   OnDrift
}

// Drifted is true when somebody else changed the desired state.
func (s Situation) Drifted() bool { return s.Absent || !s.Declared.Same(s.Stored) }

// Verdict on a situation.
type Verdict int

// The verdicts.
const (
	Settled   Verdict = iota // the disk stays as it is, and so does the generation
	Again                    // a new generation
	Tolerated                // drifted, and left alone: nothing is sent, the state stays
	Failed                   // drifted, and that is an error
	Blocked                  // drifted, but something would be sent, which would overwrite somebody else's binding
)

// Decide returns the verdict. A wipe needs a reason in the configuration: another desired state, a trigger, or
// on_drift = reimage.
func Decide(s Situation) Verdict {
	switch {
	case s.Triggered:
		return Again
	case !s.Absent && s.Planned.Same(s.Stored):
		return Settled
	case !s.Drifted() || s.OnDrift == Reimage:
		if !s.Absent && !s.Planned.Reimages(s.Stored) { // only the seed differs, and that is for the next image
			return Settled
		}
		return Again
	case s.OnDrift == Fail:
		return Failed
	case s.Planned.Same(s.Declared) && !s.Touched:
		return Tolerated
	default:
		return Blocked
	}
}
