// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

func (s *story) listed() (ids []string) {
	for _, claim := range s.state.Claims {
		ids = append(ids, claim.ID)
	}
	return ids
}

// TestFourClaimsAreListed: a fifth replaces the worst of them, at most once in five seconds unless it is worth more.
// Whoever is replaced has not ended.
func TestFourClaimsAreListed(t *testing.T) {
	s := newStory(t, admission.Proven)
	for _, id := range []string{"a", "b", "c"} {
		s.after(seconds).hello(id)
	}
	s.helloBy("process", admission.LinkOther)
	s.do(admission.Prove{Code: "code-a", Evidence: admission.Unseen})
	s.after(seconds).speak("b")
	for _, step := range []struct {
		after time.Duration
		id    string
		link  admission.Link
		left  string
	}{
		{seconds, "d", admission.LinkUnknown, "a b c d"}, {seconds, "early", admission.LinkUnknown, "a b c d"},
		{5 * seconds, "other", admission.LinkOther, "a b c d"}, {seconds, "e", admission.LinkUnknown, "a b d e"},
		{seconds, "near", admission.LinkSame, "a d e near"}, {20 * seconds, "f", admission.LinkUnknown, "a e near f"},
		{20 * seconds, "g", admission.LinkUnknown, "a near f g"}, {20 * seconds, "h", admission.LinkUnknown, "a near g h"},
	} {
		out := s.after(step.after).helloBy(step.id, step.link)
		if got := strings.Join(s.listed(), " "); got != step.left || out.Standing != admission.Waiting {
			t.Errorf("after %s: %s, want %s", step.id, got, step.left)
		}
	}
	if out := s.after(seconds).speak("c"); out.Standing != admission.Waiting || slices.Contains(s.listed(), "c") {
		t.Errorf("the claim that was replaced: %+v, %v", out, s.listed())
	}
	if out := s.after(5 * seconds).speak("c"); out.Standing != admission.Waiting || !slices.Contains(s.listed(), "c") {
		t.Errorf("it is listed again: %+v, %v", out, s.listed())
	}
}

// TestAClaimThatIsNotListed is admitted by its code, and ends as every other does.
func TestAClaimThatIsNotListed(t *testing.T) {
	crowd := func() *story {
		s := newStory(t, admission.Proven)
		s.hello("machine")
		for _, id := range []string{"a", "b", "c", "d"} {
			s.after(6 * seconds).hello(id)
		}
		if slices.Contains(s.listed(), "machine") {
			t.Fatal(s.listed())
		}
		return s
	}
	for by, prove := range map[string]func(s *story){
		"console": func(s *story) { s.shows("machine") },
		"person":  func(s *story) { s.do(admission.Admit{Code: "code-machine"}) },
	} {
		s := crowd()
		before := s.state.Calls
		prove(s)
		if s.state.Calls == before {
			t.Errorf("%s: its poll is not answered", by)
		}
		for i := range 6 { // nobody pushes it out
			s.after(6 * seconds).hello(fmt.Sprint(by, i))
		}
		s.admitted(s.speak("machine"), "machine", by, admission.Proven)
		if len(s.state.Proofs) != 0 {
			t.Errorf("%+v", s.state.Proofs)
		}
	}
	s := crowd()
	s.do(admission.Revoke{})
	if out := s.speak("machine"); out.Standing != admission.Unknown {
		t.Errorf("of the epoch before: %+v", out)
	}
	s = crowd()
	if out := s.after(24 * time.Hour).speak("machine"); out.Standing != admission.Unknown {
		t.Errorf("after a day: %+v", out)
	}
	s = crowd()
	s.do(admission.Refuse{Code: "code-d"})
	if out := s.speak("d"); out.Standing != admission.Unknown {
		t.Errorf("a refused claim: %+v", out)
	}
}

// TestCodesOfUnknownClaimsAreBounded: the newest of each kind are kept, for a day.
func TestCodesOfUnknownClaimsAreBounded(t *testing.T) {
	s := newStory(t, admission.Proven)
	if out := s.do(admission.Admit{Code: "code-x"}); out.Standing != admission.Unknown {
		t.Errorf("all claims are listed, and none has the code: %+v", out)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		s.hello(id)
	}
	for i := range 9 {
		s.after(seconds).shows(fmt.Sprint(i))
		s.do(admission.Admit{Code: fmt.Sprint("code-typed-", i)})
	}
	for i := range 9 { // the record is searched again
		s.do(admission.Show{Code: fmt.Sprint("code-", i), At: epoch.Add(time.Duration(i+1) * seconds)})
	}
	var codes []string
	for _, proof := range s.state.Proofs {
		codes = append(codes, proof.Code)
	}
	slices.Sort(codes)
	want := "[code-5 code-6 code-7 code-8 code-typed-5 code-typed-6 code-typed-7 code-typed-8]"
	if fmt.Sprint(codes) != want {
		t.Errorf("%v, want %s", codes, want)
	}
	if s.after(25 * time.Hour).do(admission.Tick{}); len(s.state.Proofs) != 0 {
		t.Errorf("%+v", s.state.Proofs)
	}
}
