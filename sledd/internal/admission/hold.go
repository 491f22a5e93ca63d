// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"time"
)

const (
	// mostStart bounds what one odd start does to the holds of its model.
	mostStart = 30 * time.Minute
	// mostStarts of a machine are remembered.
	mostStarts = 8
)

// hold returns how long secrets are withheld at level expected: the time of the site, or longer if a machine of the
// model is known to need longer: from its start until it can claim to be the node while an impostor is the incumbent.
// Why is empty, or the reason for more.
func (r Rules) hold(start time.Duration) (hold time.Duration, why string) {
	needed := min(start, mostStart) + r.Silence + r.Answer
	if start == 0 || needed <= r.Hold {
		return r.Hold, ""
	}
	return needed, fmt.Sprintf("; rival_time, %s, is too short: a machine of this model took %s to start", r.Hold,
		start.Round(time.Second))
}

// Slowest returns the slowest of the machine's last starts; 0: none is known.
func (s State) Slowest() time.Duration {
	if len(s.Starts) == 0 {
		return 0
	}
	return slices.Max(s.Starts)
}

// measured remembers the start of an incumbent that nobody disputed.
func (w *work) measured() {
	if w.Incumbent.Start <= 0 || w.Incumbent.Contested {
		return
	}
	starts := append(slices.Clone(w.Starts), w.Incumbent.Start)
	w.Starts = starts[max(0, len(starts)-mostStarts):]
}
