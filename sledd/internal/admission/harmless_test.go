// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// harmless is a node whose image runs from memory and has no secret, after a power cut.
func harmless(t *testing.T, level admission.Level) *story {
	t.Helper()
	s := newStory(t, level)
	s.node.Unfinished, s.node.Memory, s.node.Harmless = false, true, true
	return s.after(24 * time.Hour)
}

func TestNodeWithoutASecretNeedsNoWindow(t *testing.T) {
	for level, want := range map[admission.Level]admission.Standing{admission.Expected: admission.Admitted,
		admission.Proven: admission.Waiting} {
		s := harmless(t, level)
		s.hello("a")
		if out := s.speak("a"); out.Standing != want {
			t.Errorf("level %s: %v, want %v", level, out.Standing, want)
		}
	}
	s := harmless(t, admission.Expected)
	s.node.Harmless = false
	s.hello("a")
	if out := s.speak("a"); out.Standing != admission.Waiting {
		t.Errorf("with a secret: %v", out.Standing)
	}
}

// Who was admitted because there was no secret gets none.
func TestNoSecretForWhoNeededNoWindow(t *testing.T) {
	s := harmless(t, admission.Expected)
	s.hello("stranger")
	s.speak("stranger")
	s.node.Generation, s.node.Harmless, s.node.Unfinished = 4, false, true
	if out := s.speak("stranger"); out.Standing == admission.Admitted || s.state.Incumbent != nil {
		t.Errorf("it is the node of a binding with a secret: %+v", s.state.Incumbent)
	}
	s.hello("stranger again")
	if out := s.speak("stranger again"); out.Standing != admission.Waiting {
		t.Errorf("it is admitted without a window: %v", out.Standing)
	}
}

func TestContestedNodeWithoutASecretAdmitsNobody(t *testing.T) {
	s := harmless(t, admission.Expected)
	s.state.Rival = s.now
	s.hello("a")
	if out := s.speak("a"); out.Standing != admission.Waiting {
		t.Errorf("%v", out.Standing)
	}
}

// The return of an incumbent that needed no window is no more than that incumbent.
func TestTheReturnOfWhoNeededNoWindow(t *testing.T) {
	for _, secret := range []bool{false, true} {
		s := harmless(t, admission.Expected)
		s.hello("a")
		s.speak("a")
		if why := s.state.MayReturn(s.rules); why != "" {
			t.Errorf("no ticket: %s", why)
		}
		s.do(admission.Leave{ID: "a"})
		if secret {
			s.node.Generation, s.node.Harmless, s.node.Unfinished = 4, false, true
		}
		s.back("b", "a", admission.LinkUnknown)
		out := s.speak("b")
		if secret {
			s.refused("with a secret", out)
			continue
		}
		s.admitted(out, "b", "no secret", admission.Expected)
		if !s.state.Incumbent.Returned() {
			t.Error("it is not the return")
		}
		s.node.Harmless = false
		if out := s.speak("b"); out.Standing == admission.Admitted || s.state.Incumbent != nil {
			t.Errorf("it is the node of a binding with a secret: %+v", s.state.Incumbent)
		}
	}
}
