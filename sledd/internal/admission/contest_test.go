// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

func TestRivalWithholdsSecretsUntilEvidence(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute).enter("impostor")
	out := s.after(40 * seconds).hello("machine")
	if !out.Wake {
		t.Errorf("the incumbent is not asked whether it lives: %+v", out)
	}
	s.waits(out, admission.WantSilence, admission.WantConsole, admission.WantPerson)
	out = s.after(1 * seconds).speak("impostor")
	s.noted(out, admission.RivalAlarm)
	note := out.Notes[0]
	if note.Claim.Address != "address-machine" || note.Reason != "the incumbent at address-impostor "+
		"lives; link of the rival: unknown" {
		t.Errorf("the alarm names not both: %+v", note)
	}
	s.noted(s.speak("impostor"))
	s.after(10 * time.Minute).speak("machine")
	s.speak("impostor")
	s.secrets("impostor", false)

	s.do(admission.Prove{Code: "code-machine", Evidence: admission.Console})
	out = s.speak("machine")
	s.admitted(out, "machine", "console", admission.Proven)
	s.noted(out, admission.Void, admission.Left, admission.AdmittedAs)
	s.secrets("machine", true)
	s.secrets("impostor", false)
	if out := s.speak("impostor"); out.Standing != admission.Unknown {
		t.Errorf("the impostor is %+v", out)
	}
}

func TestContestIsDecidedForTheIncumbent(t *testing.T) {
	for name, event := range map[string]admission.Event{
		"its code on the console": admission.Prove{Code: "code-a", Evidence: admission.Console},
		"an operator's word":      admission.Admit{Code: "code-a"},
		"unseen":                  admission.Admit{Code: "code-a", Unseen: true},
		"the rival is refused":    admission.Refuse{Code: "code-b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, admission.Expected)
			s.window(time.Hour).enter("a")
			s.hello("b")
			s.after(10 * time.Minute).speak("a")
			s.secrets("a", false)
			s.do(event)
			s.secrets("a", true)
			if len(s.state.Claims) != 0 || !s.state.Rival.IsZero() {
				t.Errorf("the rival is still there: %+v", s.state)
			}
		})
	}
}

func TestContestBlocksSuccessorsUntilANewWindow(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute).enter("a")
	s.hello("b")
	s.speak("a")
	s.after(60 * seconds).speak("b")
	s.after(10*seconds).waits(s.speak("b"), admission.WantWindow, admission.WantConsole, admission.WantPerson)
	s.hello("c")
	s.after(11*seconds).waits(s.speak("c"), admission.WantWindow, admission.WantConsole, admission.WantPerson)
	s.window(15*time.Minute).admitted(s.speak("c"), "c", "window", admission.Expected)
	s.secrets("c", false)
}

func TestNewWindowReleasesNoSecretToAContestedIncumbent(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute).enter("impostor")
	s.hello("machine")
	s.speak("impostor")
	s.after(20 * time.Minute).speak("impostor")
	s.window(15 * time.Minute).speak("impostor")
	s.secrets("impostor", false)
}

func TestRivalAlarmWithholdsNothingBeyondTheHold(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.rules.RivalAlarm = true
	s.window(15 * time.Minute).enter("a")
	s.hello("b")
	s.noted(s.speak("a"), admission.RivalAlarm)
	s.secrets("a", false)
	s.after(5*time.Minute).secrets("a", true)
}

func TestARebootIsNoRivalOfItself(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(15 * time.Minute)
	s.hello("first") // rebooted before its first poll
	s.after(5 * seconds).enter("second")
	s.noted(s.after(10 * seconds).speak("second"))
	s.after(5 * seconds).hello("third")
	s.after(30*seconds).admitted(s.speak("third"), "third", "window", admission.Expected)
	s.noted(s.after(10 * seconds).speak("third"))
}

func TestIdleIncumbentIsAskedBeforeItIsSucceeded(t *testing.T) {
	s := newStory(t, admission.Open)
	s.enter("a")
	s.after(59 * seconds) // within its long poll
	if out := s.hello("b"); !out.Wake {
		t.Fatalf("not woken: %+v", out)
	}
	s.speak("a")
	for range 5 {
		out := s.after(55 * seconds).speak("b")
		s.waits(out, admission.WantSilence)
		if !out.Wake {
			t.Fatalf("not woken again: %+v", out)
		}
		s.speak("a")
	}
}

func TestUnseenAdmission(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.hello("a")
	s.after(60 * seconds).do(admission.Admit{Code: "code-a", Unseen: true})
	s.after(20*seconds).admitted(s.speak("a"), "a", "unseen", admission.Expected)
	s.after(279*seconds).secrets("a", false)
	s.after(1*seconds).secrets("a", true)

	s = newStory(t, admission.Proven)
	s.hello("a")
	s.waits(s.do(admission.Admit{Code: "code-a", Unseen: true}), admission.WantConsole, admission.WantPerson)
	s.waits(s.speak("a"), admission.WantConsole, admission.WantPerson)
	s.do(admission.Admit{Code: "code-a"})
	s.admitted(s.speak("a"), "a", "person", admission.Proven)
}

func TestOperatorReplacesALivingIncumbent(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.enter("a", admission.Ticket)
	s.hello("b")
	s.do(admission.Admit{Code: "code-b"})
	out := s.speak("b")
	s.admitted(out, "b", "person", admission.Proven)
	s.noted(out, admission.Void, admission.Left, admission.AdmittedAs)
}

func TestLinkOfAnotherMAC(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(time.Hour)
	s.noted(s.helloBy("process", admission.LinkOther), admission.LinkAlarm, admission.Claimed)
	s.waits(s.speak("process"), admission.WantConsole, admission.WantPerson)
	s.enter("machine")
	if out := s.speak("process"); out.Wake {
		t.Errorf("it may ask whether the incumbent lives: %+v", out)
	}
	s.noted(s.speak("machine"))
	s.after(5*time.Minute).secrets("machine", true)
}

func TestAContestIsRememberedForADay(t *testing.T) {
	s := newStory(t, admission.Expected)
	s.window(48 * time.Hour).enter("a")
	s.hello("b")
	s.speak("a")
	s.noted(s.after(24*time.Hour-seconds).do(admission.Tick{}), admission.Left)
	if s.state.Window == nil {
		t.Error("the window was closed early")
	}
	s.noted(s.after(1*seconds).do(admission.Tick{}), admission.WindowAlarm)
	if s.state.Window != nil {
		t.Error("the window is open")
	}
	s.noted(s.after(1 * seconds).do(admission.Tick{}))
	s.hello("c")
	s.waits(s.speak("c"), admission.WantWindow, admission.WantConsole, admission.WantPerson)
}
