// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// resets are the acts that end what runs.
var resets = map[string]admission.Event{
	"a reset":     admission.Expect{For: 15 * time.Minute, By: "power", Reset: true},
	"a revoke":    admission.Revoke{},
	"a hand-over": admission.HandOver{},
}

// shows is the code of a claim on the recorded console now.
func (s *story) shows(id string) admission.Outcome {
	s.t.Helper()
	return s.do(admission.Show{Code: "code-" + id, At: s.now.Truncate(time.Second)})
}

// TestEvidenceBeginsAtTheReset: nothing that the system before could produce counts after the act that ended it.
func TestEvidenceBeginsAtTheReset(t *testing.T) {
	for name, reset := range resets {
		for what, made := range map[string]func(s *story){
			"its code on the console":   func(s *story) { s.hello("old"); s.shows("old") },
			"its code, read by someone": func(s *story) { s.hello("old"); s.do(admission.Admit{Code: "code-old"}) },
			"a ticket":                  func(s *story) { s.helloBy("old", admission.LinkSame, admission.Ticket) },
			"an incumbent":              func(s *story) { s.enter("old", admission.Ticket) },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				s := newStory(t, admission.Proven)
				made(s)
				before := s.state.Epoch
				out := s.after(2 * seconds).do(reset)
				if !out.Reset || s.state.Epoch != before+1 || !s.state.Reset.Equal(s.now) || len(s.state.Claims) != 0 {
					t.Errorf("%+v after %+v", s.state, out)
				}
				s.after(2 * seconds).shows("old")
				s.do(admission.Admit{Code: "code-old"})
				if out := s.speak("old"); out.Standing != admission.Unknown || s.state.Incumbent != nil {
					t.Errorf("%+v", out)
				}
			})
		}
	}
}

// TestALineOfBeforeTheResetIsNoEvidence: lines have whole seconds, so that of the reset's own second does not count.
func TestALineOfBeforeTheResetIsNoEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		act    admission.Event // half a second before the claim
		line   time.Duration   // after the start of the second of the act
		counts bool
	}{
		"before the claim":          {nil, -seconds, false},
		"in the second of claim":    {nil, 0, true},
		"in the second of reset":    {resets["a reset"], 0, false},
		"after the reset":           {resets["a reset"], seconds, true},
		"in the second of window":   {admission.Expect{For: time.Minute, By: "manual"}, 0, false},
		"after the window opened":   {admission.Expect{For: time.Minute, By: "manual"}, seconds, true},
		"in the second of a revoke": {admission.Revoke{}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, admission.Proven)
			s.after(time.Hour + 200*time.Millisecond)
			second := s.now.Truncate(time.Second)
			if c.act != nil {
				s.do(c.act)
			}
			s.after(500 * time.Millisecond).hello("a")
			s.after(5 * seconds).do(admission.Show{Code: "code-a", At: second.Add(c.line)})
			if admitted := s.speak("a").Standing == admission.Admitted; admitted != c.counts {
				t.Errorf("admitted: %t", admitted)
			}
		})
	}
}

// TestTheConsoleOfAnInstalledSystemIsNoEvidence: its root prints what it likes, until somebody expects a boot.
func TestTheConsoleOfAnInstalledSystemIsNoEvidence(t *testing.T) {
	s := newStory(t, admission.Proven)
	s.enter("machine", admission.Ticket)
	s.node.Local, s.node.Unfinished = true, false // its last report is applied first
	s.do(admission.Leave{ID: "machine"})
	s.after(time.Minute).hello("a")
	s.after(seconds).shows("a")
	s.waits(s.speak("a"), admission.WantConsole, admission.WantPerson)
	s.node.Generation, s.node.Local, s.node.Unfinished = s.node.Generation+1, false, true // the next image
	s.after(seconds).shows("a")
	s.waits(s.speak("a"), admission.WantConsole, admission.WantPerson)
	s.do(resets["a reset"])
	s.after(time.Minute).hello("b")
	s.after(seconds).shows("b")
	s.admitted(s.speak("b"), "b", "console", admission.Proven)
}

// TestAClaimEndsWhenTheMachineLeaves: who claimed before cannot be the machine after.
func TestAClaimEndsWhenTheMachineLeaves(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.enter("machine", admission.Ticket)
	s.helloBy("old", admission.LinkUnknown, admission.Console)
	if out := s.do(admission.Leave{ID: "machine"}); out.Reset {
		t.Error("tickets of the node end when it leaves the Sled system")
	}
	if out := s.speak("old"); out.Standing != admission.Unknown {
		t.Errorf("%+v", out)
	}
}

// TestNobodyIsAdmittedWhileTheMachineChangesHands until it was reset, whatever the level and the evidence.
func TestNobodyIsAdmittedWhileTheMachineChangesHands(t *testing.T) {
	for _, level := range []admission.Level{admission.Open, admission.Expected, admission.Proven} {
		s := newStory(t, level)
		s.enter("old", admission.Ticket)
		s.do(admission.HandOver{})
		s.after(seconds).window(time.Hour) // as for a machine that a person switches on
		s.after(seconds).helloBy("a", admission.LinkSame, admission.Ticket)
		s.waits(s.speak("a"), admission.WantWindow)
		s.waits(s.do(admission.Admit{Code: "code-a"}), admission.WantWindow)
		s.waits(s.speak("a"), admission.WantWindow)
		s.do(admission.Revoke{})
		s.after(seconds).helloBy("b", admission.LinkSame, admission.Ticket)
		s.waits(s.speak("b"), admission.WantWindow)
		s.do(resets["a reset"])
		if out := s.speak("b"); out.Standing != admission.Unknown {
			t.Errorf("%s: a claim of before the reset: %+v", level, out)
		}
		s.after(seconds).enter("c", admission.Ticket)
	}
}

func TestTheSeedOfTwoBootsIsAnAlarm(t *testing.T) {
	s := newStory(t, admission.Open)
	s.enter("a")
	s.noted(s.do(admission.Seed{ID: "a"}))
	s.noted(s.after(seconds).do(admission.Seed{ID: "a"})) // the response was lost
	s.noted(s.do(admission.Seed{ID: "b"}))                // is nobody
	s.after(time.Minute).hello("b")
	s.after(10 * seconds).speak("b")
	out := s.do(admission.Seed{ID: "b"})
	s.noted(out, admission.SeedAlarm)
	if note := out.Notes[0]; note.Claim.Address != "address-b" ||
		note.Reason != "another boot at address-a got the seed of generation 3 at 2026-11-01T00:00:00Z" {
		t.Errorf("%+v", note)
	}
	s.node.Generation++
	s.noted(s.do(admission.Seed{ID: "b"}))
}
