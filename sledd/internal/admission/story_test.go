// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// story is a node's admission over time. Every step goes through JSON, as in the store.
type story struct {
	t     *testing.T
	state admission.State
	rules admission.Rules
	node  admission.Node
	now   time.Time
	made  map[string]admission.Claim // what the tokens of claims hold
}

func newStory(t *testing.T, level admission.Level) *story {
	t.Helper()
	return &story{t: t, rules: admission.DefaultRules(), now: epoch, made: map[string]admission.Claim{},
		node: admission.Node{Level: level, Generation: 3, Unfinished: true}}
}

func (s *story) after(d time.Duration) *story {
	s.now = s.now.Add(d)
	return s
}

func (s *story) do(event admission.Event) admission.Outcome {
	s.t.Helper()
	next, out := admission.Step(s.state, admission.Input{Now: s.now, Rules: s.rules, Node: s.node, Event: event})
	text, err := json.Marshal(next)
	if err != nil {
		s.t.Fatal(err)
	}
	s.state = admission.State{}
	if err := json.Unmarshal(text, &s.state); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	if again, _ := json.Marshal(s.state); string(again) != string(text) {
		s.t.Fatalf("stored as %s, read as %s", text, again)
	}
	return out
}

func (s *story) hello(id string) admission.Outcome { return s.helloBy(id, admission.LinkUnknown) }

func (s *story) helloBy(id string, link admission.Link, evidence ...admission.Evidence) admission.Outcome {
	s.t.Helper()
	claim := admission.Claim{ID: id, Code: "code-" + id, Address: "address-" + id, Link: link, Since: s.now,
		Epoch: s.state.Epoch}
	s.made[id] = claim
	claim.Evidence = evidence
	return s.do(admission.Arrive{Claim: claim})
}

func (s *story) speak(id string) admission.Outcome {
	s.t.Helper()
	claim := s.made[id]
	claim.ID = id
	return s.do(admission.Speak{Claim: claim})
}

func (s *story) window(d time.Duration) *story {
	s.t.Helper()
	s.do(admission.Expect{For: d, By: "power"})
	return s
}

// enter admits a claim by its hello and first poll.
func (s *story) enter(id string, evidence ...admission.Evidence) {
	s.t.Helper()
	s.helloBy(id, admission.LinkUnknown, evidence...)
	if out := s.speak(id); out.Standing != admission.Admitted {
		s.t.Fatalf("%s was not admitted: %+v", id, out)
	}
}

func (s *story) waits(out admission.Outcome, want ...admission.Want) {
	s.t.Helper()
	if out.Standing != admission.Waiting || !slices.Equal(out.Want, want) || out.Reason == "" {
		s.t.Errorf("at %s: want it to wait for %v, got %+v", s.now.Sub(epoch), want, out)
	}
}

func (s *story) admitted(out admission.Outcome, id, by string, level admission.Level) {
	s.t.Helper()
	incumbent := s.state.Incumbent
	if out.Standing != admission.Admitted || incumbent == nil || incumbent.ID != id || incumbent.By != by ||
		incumbent.Level != level {
		s.t.Errorf("at %s: want %s admitted by %s at %s, got %+v\nincumbent %+v", s.now.Sub(epoch), id, by, level, out,
			incumbent)
	}
}

func (s *story) secrets(id string, want bool) {
	s.t.Helper()
	if got := s.state.May(id, s.rules, s.node, s.now); got.Secrets != want || got.Secrets == (got.Reason != "") {
		s.t.Errorf("at %s: want secrets %t for %s, got %+v", s.now.Sub(epoch), want, id, got)
	}
}

func (s *story) noted(out admission.Outcome, want ...admission.Kind) {
	s.t.Helper()
	var kinds []admission.Kind
	for _, note := range out.Notes {
		kinds = append(kinds, note.Kind)
	}
	if !slices.Equal(kinds, want) {
		s.t.Errorf("at %s: want notes %v, got %v", s.now.Sub(epoch), want, kinds)
	}
}

const seconds = time.Second
