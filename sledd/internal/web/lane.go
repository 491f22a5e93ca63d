// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// lane is the stages of one run on a line of 1,000 units.
type lane struct {
	Bars  []bar
	Label string // read by screen readers
}

// bar is a stage on a lane.
type bar struct {
	Stage    string
	X, Width float64
	Tip      string
}

const laneUnits = 1000

// newLane places the stages of a run that started at a time, on a line of so many seconds.
func newLane(begin time.Time, stages []api.Stage, seconds float64) lane {
	var made lane
	if seconds <= 0 {
		return made
	}
	for _, stage := range stages {
		x := stage.Begin.Sub(begin).Seconds() / seconds * laneUnits
		width := stage.Seconds / seconds * laneUnits
		x = min(max(x, 0), laneUnits)
		one := bar{stage.Name, x, min(max(width, 2), laneUnits-x), stage.Name + " " + wording.Seconds(stage.Seconds)}
		if stage.Rate > 0 {
			one.Tip += ", " + wording.Bytes(stage.Rate) + "/s"
		}
		made.Bars = append(made.Bars, one)
		made.Label += one.Tip + "; "
	}
	return made
}
