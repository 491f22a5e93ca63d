// SPDX-License-Identifier: Apache-2.0

package page

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// clock is seconds as minutes and seconds, with hours when there are any.
func clock(value float64) string { return wording.Clock(seconds(value)) }

// when is a time in the zone that it came with, which the page names; empty for the zero time.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateTime)
}

// stageOf returns the seconds of one stage of a node.
func stageOf(run api.NodeRun, name string) float64 {
	sum := 0.0
	for _, stage := range run.Stages {
		if stage.Name == name {
			sum += stage.Seconds
		}
	}
	return sum
}

func has(run api.NodeRun, name string) bool {
	for _, stage := range run.Stages {
		if stage.Name == name {
			return true
		}
	}
	return false
}
