// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// boot resets the machine, has it claim after its start, and lets it do its work.
func (s *story) boot(id string, start time.Duration) {
	s.t.Helper()
	s.do(admission.Expect{For: time.Hour, By: "power", Reset: true})
	s.after(start).enter(id)
	s.do(admission.Leave{ID: id})
}

// TestTheHoldIsLongerThanTheSlowestStart: an impostor cannot wait for longer than the machine needs to speak.
func TestTheHoldIsLongerThanTheSlowestStart(t *testing.T) {
	for name, c := range map[string]struct {
		start, hold time.Duration
	}{
		"of no machine":            {0, 5 * time.Minute},
		"of a fast one":            {3 * time.Minute, 5 * time.Minute},
		"as long as the site says": {4 * time.Minute, 5 * time.Minute},
		"of a slow one":            {7 * time.Minute, 7*time.Minute + 40*time.Second},
		"of one that was repaired": {50 * time.Minute, 30*time.Minute + 40*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, admission.Expected)
			if c.start > 0 {
				s.boot("before", c.start)
			}
			s.node.Start = s.state.Slowest()
			if s.node.Start != c.start {
				t.Errorf("measured %s", s.node.Start)
			}
			s.do(admission.Expect{For: time.Hour, By: "power", Reset: true})
			s.after(time.Second).enter("a")
			s.after(c.hold-2*time.Second).secrets("a", false)
			why := s.state.May("a", s.rules, s.node, s.now).Reason
			if longer := strings.Contains(why, "rival_time, 5m0s, is too short"); longer != (c.hold > s.rules.Hold) {
				t.Errorf("%s: %s", c.hold, why)
			}
			s.after(time.Second).secrets("a", true)
		})
	}
}

// TestWhatIsMeasured: only starts from a reset to a claim that nobody disputed, the last eight.
func TestWhatIsMeasured(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(time.Hour).after(20 * time.Minute).enter("switched on by a person")
	s.do(admission.Leave{ID: "switched on by a person"})
	if s.state.Starts != nil {
		t.Errorf("without a reset: %v", s.state.Starts)
	}
	s.do(admission.Expect{For: time.Hour, By: "power", Reset: true})
	s.after(10 * time.Minute).enter("disputed")
	s.after(seconds).hello("rival")
	s.after(seconds).speak("disputed")
	s.after(seconds).speak("rival")
	if s.state.Incumbent == nil || !s.state.Incumbent.Contested {
		t.Fatalf("not contested: %+v", s.state)
	}
	s.do(admission.Leave{ID: "disputed"})
	if s.state.Starts != nil {
		t.Errorf("of a contested node: %v", s.state.Starts)
	}
	for i := range 9 {
		s.boot("a", time.Duration(9-i)*time.Minute)
	}
	if len(s.state.Starts) != 8 || s.state.Slowest() != 8*time.Minute {
		t.Errorf("%v", s.state.Starts)
	}
}
