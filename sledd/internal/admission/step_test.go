// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

func TestOpenTakesTheFirst(t *testing.T) {
	s := newStory(t, admission.Open)
	s.noted(s.hello("a"), admission.Claimed)
	s.hello("b")
	out := s.speak("a")
	s.admitted(out, "a", "open", admission.Open)
	s.noted(out, admission.AdmittedAs)
	s.secrets("a", true)
	s.secrets("b", false)
	s.waits(s.speak("b"), admission.WantSilence)
	s.noted(s.speak("a"), admission.RivalAlarm)
	s.secrets("a", true)
	s.after(20*seconds).waits(s.speak("b"), admission.WantSilence)
	s.after(30*seconds).admitted(s.speak("b"), "b", "open", admission.Open)
}

func TestExpectedNeedsAWindow(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.waits(s.hello("a"), admission.WantWindow, admission.WantConsole, admission.WantPerson)
	s.after(60*seconds).window(15*time.Minute).after(5*seconds).admitted(s.speak("a"), "a", "window", admission.Expected)
	s.secrets("a", false)
	if until := s.state.May("a", s.rules, s.node, s.now).Until; !until.Equal(epoch.Add(6 * time.Minute)) {
		t.Errorf("the hold ends %s after the start, want 6m: it counts from the window", until.Sub(epoch))
	}
	s.after(294*seconds).secrets("a", false)
	s.after(1*seconds).secrets("a", true)

	s = newStory(t, admission.Expected)
	s.window(10*time.Minute).after(10*time.Minute).waits(s.hello("a"), admission.WantWindow, admission.WantConsole,
		admission.WantPerson)
	s.waits(s.speak("a"), admission.WantWindow, admission.WantConsole, admission.WantPerson)
}

func TestSuccession(t *testing.T) {
	begin := func() *story {
		s := newStory(t, admission.Expected)
		s.window(15 * time.Minute).enter("a")
		s.after(20 * time.Minute).speak("a")
		return s
	}
	s := begin()
	out := s.after(10 * seconds).hello("b") // a short power cut
	if want := s.now.Add(20 * seconds); !out.Next.Equal(want) {
		t.Errorf("considered again at %s, want %s", out.Next, want)
	}
	s.after(19*seconds).waits(s.speak("b"), admission.WantSilence, admission.WantConsole, admission.WantPerson)
	s.after(1*seconds).admitted(s.speak("b"), "b", "succession", admission.Expected)
	s.after(269*seconds).secrets("b", false)
	s.after(1*seconds).secrets("b", true)

	s = begin() // a firmware that is slower than the hold
	s.after(8 * time.Minute).hello("b")
	s.waits(s.speak("b"), admission.WantSilence, admission.WantConsole, admission.WantPerson)
	s.after(10*seconds).admitted(s.speak("b"), "b", "succession", admission.Expected)
	s.secrets("b", true)

	s = begin()
	s.after(15*time.Minute - 5*seconds).hello("b")
	s.after(10*seconds).waits(s.speak("b"), admission.WantWindow, admission.WantConsole, admission.WantPerson)

	s = begin() // nothing to finish
	s.node.Unfinished = false
	s.after(60 * seconds).hello("b")
	s.after(10*seconds).waits(s.speak("b"), admission.WantWindow, admission.WantConsole, admission.WantPerson)
}

func TestProvenNeedsEvidence(t *testing.T) {
	for _, evidence := range []admission.Evidence{admission.Ticket, admission.Console, admission.Person, admission.TPM} {
		s := newStory(t, admission.Proven)
		s.window(15 * time.Minute).hello("impostor")
		s.waits(s.speak("impostor"), admission.WantConsole, admission.WantPerson)
		s.enter("a", evidence)
		s.admitted(s.speak("a"), "a", string(evidence), admission.Proven)
		s.secrets("a", true)
		s.speak("impostor")
		s.noted(s.speak("a"), admission.RivalAlarm)
		s.secrets("a", true)
		s.after(60 * seconds).speak("impostor")
		s.after(10*seconds).waits(s.speak("impostor"), admission.WantConsole, admission.WantPerson)
	}
	s := newStory(t, admission.Attested)
	s.helloBy("a", admission.LinkSame, admission.Console)
	s.waits(s.speak("a"), admission.WantTPM)
	s.do(admission.Prove{Code: "code-a", Evidence: admission.Attestation})
	s.admitted(s.speak("a"), "a", "attestation", admission.Attested)
}

func TestLevelDoesNotFallWithinAGeneration(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.enter("a", admission.Ticket)
	s.after(60 * seconds).window(time.Hour).hello("b")
	s.after(10*seconds).waits(s.speak("b"), admission.WantConsole, admission.WantPerson)
	s.node.Generation++ // while the incumbent is on record
	s.waits(s.speak("b"), admission.WantConsole, admission.WantPerson)
	s.do(admission.Revoke{})
	s.hello("c")
	s.waits(s.speak("c"), admission.WantConsole, admission.WantPerson)
	s.node.Generation++
	s.admitted(s.speak("c"), "c", "window", admission.Expected)
}

func TestIncumbentBelowTheRequiredLevelGetsNoPlan(t *testing.T) {
	s := newStory(t, admission.Open)
	s.enter("a")
	s.node.Level = admission.Proven
	if may := s.state.May("a", s.rules, s.node, s.now); may.Plan || may.Secrets || may.Reason == "" {
		t.Errorf("got %+v", may)
	}
	s.do(admission.Prove{Code: "code-a", Evidence: admission.Console})
	s.secrets("a", true)
}

func TestNobodyIsAdmittedWhileTheNodeRunsFromItsDisk(t *testing.T) {
	for _, level := range []admission.Level{admission.Open, admission.Expected} {
		s := newStory(t, level)
		s.window(15 * time.Minute).enter("a")
		s.noted(s.after(60*seconds).do(admission.Leave{ID: "a"}), admission.Left)
		s.node.Local, s.node.Unfinished = true, false
		s.hello("b")
		if out := s.after(30 * seconds).speak("b"); out.Standing != admission.Waiting {
			t.Errorf("%s: admitted during the first boot: %+v", level, out)
		}
		s.helloBy("c", admission.LinkUnknown, admission.Ticket)
		s.admitted(s.speak("c"), "c", "ticket", admission.Proven)
	}
}

func TestClaimsEnd(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.hello("a")
	s.after(15*time.Minute - seconds).speak("a")
	for range 94 { // its age is 24 hours
		if out := s.after(15*time.Minute - seconds).speak("a"); out.Standing != admission.Waiting {
			t.Fatalf("at %s: %+v", s.now.Sub(epoch), out)
		}
	}
	if out := s.after(15*time.Minute - seconds + 96*seconds).speak("a"); out.Standing != admission.Unknown {
		t.Errorf("at %s: %+v", s.now.Sub(epoch), out)
	}
	s.hello("b")
	if s.after(15 * time.Minute).do(admission.Tick{}); len(s.state.Claims) != 0 {
		t.Errorf("a silent claim is listed: %+v", s.state.Claims)
	}
	if out := s.speak("b"); out.Standing != admission.Waiting || len(s.state.Claims) != 1 {
		t.Errorf("it speaks again: %+v", out)
	}
}

func TestIncumbentsEnd(t *testing.T) {
	s := newStory(t, admission.Open)
	s.enter("a")
	s.after(time.Hour - seconds).speak("a")
	s.noted(s.after(time.Hour).do(admission.Tick{}), admission.Left)
	s.enter("b")
	for range 7*24*2 - 1 {
		s.after(30 * time.Minute).speak("b")
	}
	s.noted(s.after(30*time.Minute).speak("b"), admission.Left)
	s.enter("c")
	s.noted(s.do(admission.Revoke{}), admission.Left)
	if s.state.Incumbent != nil {
		t.Errorf("%+v", s.state.Incumbent)
	}
}

func TestACrashLoopEnds(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute).enter("a")
	for i := range 9 {
		id := string(rune('b' + i))
		s.after(60 * seconds).hello(id)
		out := s.after(10 * seconds).speak(id)
		alarmed := slices.ContainsFunc(out.Notes, func(n admission.Note) bool { return n.Kind == admission.BootsAlarm })
		if out.Standing != admission.Admitted || alarmed != (i == 8) {
			t.Fatalf("boot %d: %+v", i+2, out)
		}
	}
	s.after(10 * time.Minute).speak("j")
	s.after(60*seconds).helloBy("z", admission.LinkUnknown, admission.Console)
	s.after(10*seconds).waits(s.speak("z"), admission.WantWindow, admission.WantPerson)
	s.do(admission.Expect{For: time.Minute, By: "power"})
	s.admitted(s.speak("z"), "z", "console", admission.Proven)
}

func TestUnknownCodesChangeNothing(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(time.Hour).enter("a")
	s.hello("b")
	before := s.state
	for _, event := range []admission.Event{admission.Speak{Claim: admission.Claim{ID: "x"}}, admission.Leave{ID: "b"},
		admission.Refuse{Code: "x"}, admission.Admit{Code: "x"},
		admission.Prove{Code: "x", Evidence: admission.Console}} {
		if out := s.do(event); out.Standing != admission.Unknown || !reflect.DeepEqual(s.state, before) {
			t.Errorf("%T: %+v", event, out)
		}
	}
}
