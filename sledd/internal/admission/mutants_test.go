// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// mutant is the rules with one of them changed: by other times, by what a step is given, or by what it results in.
type mutant struct {
	rules func(*admission.Rules)
	in    func(*admission.Input)
	out   func(before admission.State, in admission.Input, after *admission.State)
}

func (m mutant) into(s *setting) {
	s.step = func(state admission.State, in admission.Input) (admission.State, admission.Outcome) {
		if m.in != nil {
			m.in(&in)
		}
		next, out := admission.Step(state, in)
		if m.out != nil {
			m.out(state, in, &next)
		}
		return next, out
	}
	if m.rules != nil {
		m.rules(&s.rules)
	}
}

func rules(change func(*admission.Rules)) mutant { return mutant{rules: change} }
func input(change func(*admission.Input)) mutant { return mutant{in: change} }
func after(change func(before admission.State, in admission.Input, after *admission.State)) mutant {
	return mutant{out: change}
}

// mutants of the rules, each with a setting in which the model must find it.
var mutants = map[string]struct {
	setting string
	mutant  mutant
}{
	"the hold counts from the window only": {"expected", after(
		func(_ admission.State, _ admission.Input, after *admission.State) {
			if i := after.Incumbent; i != nil {
				i.HoldFrom = time.Time{}
				if after.Window != nil {
					i.HoldFrom = after.Window.Opened
				}
			}
		})},
	"the hold counts from the last incumbent only": {"expected", after(
		func(before admission.State, _ admission.Input, after *admission.State) {
			i, old := after.Incumbent, before.Incumbent
			if i == nil || old != nil && old.ID == i.ID {
				return
			}
			if i.HoldFrom = (time.Time{}); after.Window != nil {
				i.HoldFrom = after.Window.Opened
			}
			if old != nil && old.Seen.After(i.HoldFrom) {
				i.HoldFrom = old.Seen
			}
		})},
	"the hold is as long as the silence": {"expected", rules(func(r *admission.Rules) { r.Hold = r.Silence })},
	"a rival withholds nothing": {"expected", after(
		func(_ admission.State, _ admission.Input, after *admission.State) {
			if after.Incumbent != nil {
				after.Incumbent.Contested = false
			}
		})},
	"a contest blocks nobody": {"expected", after(
		func(_ admission.State, _ admission.Input, after *admission.State) { after.Rival = time.Time{} })},
	"a claim is a rival at once": {"alone", after(
		func(_ admission.State, in admission.Input, after *admission.State) {
			if _, hello := in.Event.(admission.Arrive); hello && after.Incumbent != nil {
				after.Incumbent.Contested, after.Rival = true, in.Now
			}
		})},
	"a claim is never a rival": {"expected", after(
		func(_ admission.State, _ admission.Input, after *admission.State) {
			for i := range after.Claims {
				after.Claims[i].Spoke = false
			}
		})},
	"a hello ends the incumbent": {"open", after(
		func(_ admission.State, in admission.Input, after *admission.State) {
			if _, hello := in.Event.(admission.Arrive); hello {
				after.Incumbent = nil
			}
		})},
	"any incumbent counts as silent": {"open", rules(func(r *admission.Rules) { r.Silence, r.Answer = 0, 0 })},
	"the incumbent is not asked":     {"open", rules(func(r *admission.Rules) { r.Answer = 0 })},
	"a successor may come late":      {"short window", rules(func(r *admission.Rules) { r.Retry = 100 * tick })},
	"a machine may boot without end": {"few boots", rules(func(r *admission.Rules) { r.Boots = 100 })},
	"the level falls": {"recorded", after(
		func(_ admission.State, _ admission.Input, after *admission.State) { after.Floor = admission.Open })},
	"the link does not matter": {"wrong link", input(func(in *admission.Input) {
		if hello, ok := in.Event.(admission.Arrive); ok {
			hello.Claim.Link = admission.LinkUnknown
			in.Event = hello
		}
	})},
	"running from the disk does not matter": {"open", input(func(in *admission.Input) { in.Node.Local = false })},
	"the window outlives the boot": {"expected", after(
		func(before admission.State, in admission.Input, after *admission.State) {
			if _, left := in.Event.(admission.Leave); left {
				after.Window = before.Window
			}
		})},
	"a binding opens a window": {"expected", after(
		func(before admission.State, in admission.Input, after *admission.State) {
			if before.Generation != after.Generation {
				after.Window = &admission.Window{Opened: in.Now, Ends: in.Now.Add(windowTime)}
			}
		})},
	"a claim gets what the incumbent gets": {"expected", after(
		func(_ admission.State, in admission.Input, after *admission.State) {
			if speak, ok := in.Event.(admission.Speak); ok && after.Incumbent != nil {
				after.Incumbent.ID = speak.Claim.ID
			}
		})},
}

// TestModelFindsMutants changes one rule at a time. A rule whose change the model does not notice is not tested by it.
func TestModelFindsMutants(t *testing.T) {
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings[m.setting].ready(mutantDepth)
			m.mutant.into(&s)
			states, err := s.explore()
			if err == nil {
				t.Fatalf("not found in %d states", states)
			}
			t.Logf("found in %d states: %v", states, err)
		})
	}
}
