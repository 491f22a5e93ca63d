// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// back says hello with the return ticket of an incumbent.
func (s *story) back(id, from string, link admission.Link) admission.Outcome {
	s.t.Helper()
	claim := admission.Claim{ID: id, Code: "code-" + id, Address: "address-" + id, Link: link, Since: s.now,
		Epoch: s.state.Epoch, Evidence: []admission.Evidence{admission.Return}, From: from}
	s.made[id] = claim
	return s.do(admission.Arrive{Claim: claim})
}

func (s *story) refused(what string, out admission.Outcome) {
	s.t.Helper()
	if out.Standing != admission.Waiting {
		s.t.Errorf("%s: %+v", what, out)
	}
}

// left is a node that was admitted a minute after a window was opened, and left four minutes after it.
func left(t *testing.T, level admission.Level, evidence ...admission.Evidence) *story {
	t.Helper()
	s := newStory(t, level)
	s.window(15*time.Minute).after(time.Minute).enter("a", evidence...)
	s.after(3 * time.Minute).do(admission.Leave{ID: "a"})
	return s
}

func TestAReturnIsWorthTheLevelBefore(t *testing.T) {
	for _, c := range []struct {
		level, want admission.Level
		evidence    []admission.Evidence
	}{
		{admission.Open, admission.Open, nil},
		{admission.Expected, admission.Expected, nil},
		{admission.Expected, admission.Proven, []admission.Evidence{admission.Console}},
		{admission.Proven, admission.Proven, []admission.Evidence{admission.Console}},
	} {
		s := left(t, c.level, c.evidence...)
		s.back("b", "a", admission.LinkUnknown)
		s.admitted(s.speak("b"), "b", "return", c.want)
		if s.state.Floor != c.want {
			t.Errorf("the floor is %s, want %s", s.state.Floor, c.want)
		}
	}
	s := left(t, admission.Proven, admission.Attestation)
	s.state.Floor = admission.Proven
	s.back("b", "a", admission.LinkUnknown)
	s.admitted(s.speak("b"), "b", "return", admission.Proven) // what it measured was the system before
}

func TestAReturnContinuesTheHold(t *testing.T) {
	s := left(t, admission.Expected)
	for _, id := range []string{"b", "c", "d"} { // twice more
		s.after(10*seconds).back(id, s.state.Left, admission.LinkUnknown)
		s.speak(id)
		s.secrets(id, false)
		if until := s.state.May(id, s.rules, s.node, s.now).Until; !until.Equal(epoch.Add(5 * time.Minute)) {
			t.Errorf("the hold of %s ends after %s, want 5m: that of the window", id, until.Sub(epoch))
		}
		if id != "d" {
			s.do(admission.Leave{ID: id})
		}
	}
	s.after(30*seconds).secrets("d", true)

	s = left(t, admission.Expected) // another claim in between
	s.after(10 * seconds).hello("x")
	s.after(10*seconds).back("b", "a", admission.LinkUnknown)
	s.admitted(s.speak("b"), "b", "return", admission.Expected)
	s.after(289*seconds).secrets("b", false)
	s.after(1*seconds).secrets("b", true)

	s = newStory(t, admission.Expected) // another claim before: the window is not the last word
	s.window(15 * time.Minute).after(time.Minute).enter("a")
	s.after(time.Minute).helloBy("x", admission.LinkUnknown)
	s.do(admission.Refuse{Code: "code-x"})
	s.after(time.Minute).do(admission.Leave{ID: "a"})
	s.back("b", "a", admission.LinkUnknown)
	s.speak("b")
	s.after(239*seconds).secrets("b", false)
	s.after(1*seconds).secrets("b", true)
}

func TestAReturnIsNoActOfAnOperator(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute).enter("0")
	for i := range 2 * s.rules.Boots {
		s.do(admission.Leave{ID: strconv.Itoa(i)})
		s.back(strconv.Itoa(i+1), strconv.Itoa(i), admission.LinkUnknown)
		s.admitted(s.speak(strconv.Itoa(i+1)), strconv.Itoa(i+1), "return", admission.Expected)
	}
	if s.state.Boots != 1 || s.state.Window != nil {
		t.Errorf("%d boots, window %v", s.state.Boots, s.state.Window)
	}
	s = left(t, admission.Expected)
	s.state.Boots = s.rules.Boots
	s.back("b", "a", admission.LinkUnknown)
	s.refused("after ten boots", s.speak("b"))
}

// TestAReturnWithEvidence: a claim with a ticket is the return, also if the console admits it, or raises it later.
func TestAReturnWithEvidence(t *testing.T) {
	for _, early := range []bool{true, false} {
		for _, from := range []string{"a", "z"} {
			s := left(t, admission.Expected)
			s.node.Unfinished, s.state.Boots = true, 1
			s.back("b", from, admission.LinkUnknown)
			if early || from == "z" {
				s.do(admission.Prove{Code: "code-b", Evidence: admission.Console})
			}
			s.speak("b")
			s.do(admission.Prove{Code: "code-b", Evidence: admission.Console})
			now, want := s.state.Incumbent, from == "a"
			if now == nil || now.By != "console" || now.Returned() != want || (s.state.Boots == 1) != want {
				t.Errorf("from %s, early %t: %+v, %d boots", from, early, now, s.state.Boots)
			}
		}
	}
}

// TestWhatIsNoReturn tries what would make more of a ticket.
func TestWhatIsNoReturn(t *testing.T) {
	for what, attempt := range map[string]func(s *story){
		"without the ticket":   func(s *story) { s.hello("b") },
		"of another incumbent": func(s *story) { s.back("b", "z", admission.LinkUnknown) },
		"of none":              func(s *story) { s.back("b", "", admission.LinkUnknown) },
		"from another MAC":     func(s *story) { s.back("b", "a", admission.LinkOther) },
		"at a level that rose": func(s *story) {
			s.node.Level = admission.Proven
			s.back("b", "a", admission.LinkUnknown)
		},
		"at attested": func(s *story) {
			s.node.Level = admission.Attested
			s.back("b", "a", admission.LinkUnknown)
		},
		"beside the disk":    func(s *story) { s.node.Local = true; s.back("b", "a", admission.LinkUnknown) },
		"after a hand-over":  func(s *story) { s.do(admission.HandOver{}); s.back("b", "a", admission.LinkUnknown) },
		"after a revocation": func(s *story) { s.do(admission.Revoke{}); s.back("b", "a", admission.LinkUnknown) },
		"a second time": func(s *story) {
			s.back("1", "a", admission.LinkUnknown)
			s.speak("1")
			s.do(admission.Leave{ID: "1"})
			s.back("b", "a", admission.LinkUnknown)
		},
		"beside another that fell silent": func(s *story) {
			s.node.Unfinished = false
			s.window(10 * seconds).enter("x")
			s.after(time.Minute).back("b", "a", admission.LinkUnknown)
			s.after(time.Minute).speak("b")
		},
		"after another": func(s *story) {
			s.back("b", "a", admission.LinkUnknown)
			s.enter("x", admission.Console)
			s.node.Level, s.state.Floor = admission.Expected, admission.Expected
			s.do(admission.Leave{ID: "x"})
			s.back("b", "a", admission.LinkUnknown)
		},
	} {
		s := left(t, admission.Expected)
		attempt(s)
		s.refused(what, s.speak("b"))
	}
	s := newStory(t, admission.Proven) // an incumbent that lives, or fell silent without leaving
	s.enter("a", admission.Console)
	s.back("b", "a", admission.LinkUnknown)
	s.refused("of a living one", s.speak("b"))
	s.after(20 * time.Minute)
	s.refused("of a silent one", s.speak("b"))
}

func TestAContestedNodeDoesNotReturn(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute).enter("a")
	if why := s.state.MayReturn(s.rules); why != "" {
		t.Error(why)
	}
	s.after(time.Minute).hello("x")
	s.speak("x")
	s.speak("a")
	if s.state.MayReturn(s.rules) == "" {
		t.Error("a contested node gets a ticket")
	}
	s.do(admission.Leave{ID: "a"})
	s.back("b", "a", admission.LinkUnknown)
	s.refused("from a contested one", s.speak("b"))
}

// TestAPayloadPrintsNoEvidence: a payload that prints the code of another machine's claim admits nobody.
func TestAPayloadPrintsNoEvidence(t *testing.T) {
	s := newStory(t, admission.Proven)
	s.enter("a", admission.Person)
	s.after(time.Minute).hello("accomplice")
	s.node.Payload = true
	s.after(10 * seconds).speak("a")
	s.do(admission.Show{Code: "code-accomplice", At: s.now})
	s.node.Payload = false
	shown := s.now
	s.after(seconds).do(admission.Show{Code: "code-accomplice", At: shown}) // it is found when the payload has ended
	s.after(2 * time.Minute).speak("accomplice")
	s.refused("by the console of a payload", s.after(20*seconds).speak("accomplice"))
	s.do(admission.Show{Code: "code-accomplice", At: s.now}) // a line that the Sled system printed
	s.admitted(s.speak("accomplice"), "accomplice", "console", admission.Proven)
}

func TestAResetEndsAPayload(t *testing.T) {
	s := newStory(t, admission.Proven)
	s.node.Payload = true // until the next boot polls
	s.do(admission.Expect{For: 15 * time.Minute, By: "power", Reset: true})
	s.after(time.Minute).hello("a")
	s.after(seconds).do(admission.Show{Code: "code-a", At: s.now})
	s.admitted(s.speak("a"), "a", "console", admission.Proven)
}
