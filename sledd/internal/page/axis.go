// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	longPause  = 0.08 // of the time in which nodes run; a longer pause is cut short
	shortPause = 0.03 // what is left of it
	mostTicks  = 10
)

// span is a stretch of time.
type span struct{ begin, end time.Time }

func (s span) seconds() float64 { return s.end.Sub(s.begin).Seconds() }

// axis places times on a line, in seconds from its start. Long pauses in which no node runs, as
// between a stop and a resumption, are cut short.
type axis struct {
	spans  []span    // in which nodes run
	begins []float64 // where each of them lies
	length float64
	pauses []tick // what was cut short, in seconds of the line
}

func newAxis(busy []span) axis {
	a := axis{spans: merge(busy)}
	short := shortPause * active(a.spans)
	for i, s := range a.spans {
		if i > 0 {
			a.pauses = append(a.pauses, tick{a.length, short, clock(s.begin.Sub(a.spans[i-1].end).Seconds())})
			a.length += short
		}
		a.begins = append(a.begins, a.length)
		a.length += s.seconds()
	}
	return a
}

func active(spans []span) float64 {
	sum := 0.0
	for _, s := range spans {
		sum += s.seconds()
	}
	return sum
}

// merge returns the spans in order, as one where they touch, and where what lies between is short beside all of them.
func merge(busy []span) []span {
	joined := join(busy, 0)
	return join(joined, longPause*active(joined))
}

func join(spans []span, tolerance float64) []span {
	var joined []span
	for _, s := range slices.SortedFunc(slices.Values(spans), func(x, y span) int { return x.begin.Compare(y.begin) }) {
		last := len(joined) - 1
		switch {
		case last < 0 || s.begin.Sub(joined[last].end).Seconds() > tolerance:
			joined = append(joined, s)
		case s.end.After(joined[last].end):
			joined[last].end = s.end
		}
	}
	return joined
}

// at returns the place of a time. One in a pause is at the start of the pause.
func (a axis) at(t time.Time) float64 {
	i, found := slices.BinarySearchFunc(a.spans, t, func(s span, t time.Time) int { return s.begin.Compare(t) })
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return a.begins[i] + min(t.Sub(a.spans[i].begin).Seconds(), a.spans[i].seconds())
}

// tick is a mark on a line, in percent of it; a pause has a width.
type tick struct {
	At, Width float64
	Label     string
}

// steps between ticks, in seconds.
var steps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400}

// ticks returns the ticks of a line.
func ticks(length float64) []tick {
	i, _ := slices.BinarySearchFunc(steps, length/mostTicks, cmp.Compare[float64])
	step := steps[min(i, len(steps)-1)]
	var list []tick
	for at := 0.0; at <= length && len(list) < 10*mostTicks; at += step {
		list = append(list, tick{At: share(at, length), Label: clock(at)})
	}
	return list
}

// share is a part of a whole in percent, as exact as can be seen.
func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return math.Round(part/whole*1e5) / 1e3
}
