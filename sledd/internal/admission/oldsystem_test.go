// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// The model of a machine that changes hands is every order, to a depth, of what root of its installed system does with
// a machine elsewhere, and of what an operator does, until the reset and after it. Until the reset, the old system can
// make each kind of evidence: it prints codes, gets tickets, and shows operators what to enter. What it has made stays
// in its hands.

const oldDepth = 7

// hands is a node whose machine changes hands.
type hands struct {
	adm    admission.State
	now    int // ticks
	node   admission.Node
	runs   bool // the old system, and nobody has reset the machine
	handed bool // by its binding
	// believed: an operator entered a code that it has shown, or gave it a ticket.
	believed bool
	tokens   []admission.Claim // of the old system
	lines    []admission.Show  // that it has printed
	mine     admission.Claim   // of the machine, after the reset
}

// passage is a run of this model.
type passage struct {
	level    admission.Level
	handover bool
	step     stepper
}

func (p *passage) apply(h *hands, event admission.Event) admission.Outcome {
	next, out := p.step(h.adm, admission.Input{Now: h.time(), Rules: modelRules(), Node: h.node, Event: event})
	h.adm = next
	return out
}

func (h *hands) time() time.Time { return epoch.Add(time.Duration(h.now) * tick) }

// hello makes a claim, and returns what its token holds.
func (p *passage) hello(h *hands, id string, evidence ...admission.Evidence) admission.Claim {
	claim := admission.Claim{ID: id, Code: id, Link: admission.LinkUnknown, Since: h.time(), Epoch: h.adm.Epoch}
	made := claim
	claim.Evidence = evidence
	p.apply(h, admission.Arrive{Claim: claim})
	return made
}

func (p *passage) moves(h *hands) map[string]func(h *hands) {
	all := map[string]func(h *hands){"tick": func(h *hands) { h.now++; p.apply(h, admission.Tick{}) }}
	if h.node.Generation == 1 {
		all["bind"] = func(h *hands) {
			h.node = admission.Node{Level: p.level, Generation: 2, Unfinished: true}
			if h.handed = p.handover; h.handed {
				p.apply(h, admission.HandOver{})
			}
		}
	}
	if h.node.Generation == 2 && h.runs {
		all["reset"] = func(h *hands) {
			h.runs = false
			p.apply(h, admission.Expect{For: windowTime, By: "power", Reset: true})
		}
		if p.handover {
			all["a window"] = func(h *hands) { p.apply(h, admission.Expect{For: windowTime, By: "manual"}) }
		}
	}
	if h.runs {
		p.oldMoves(h, all)
	} else {
		p.newMoves(h, all)
	}
	for i, token := range h.tokens {
		all[fmt.Sprint("old token ", i)] = func(h *hands) { p.apply(h, admission.Speak{Claim: token}) }
	}
	return all
}

// oldMoves are those of the old system.
func (p *passage) oldMoves(h *hands, all map[string]func(h *hands)) {
	if len(h.tokens) < 1 {
		id := fmt.Sprint("x", len(h.tokens))
		all["old hello"] = func(h *hands) { h.tokens = append(slices.Clone(h.tokens), p.hello(h, id)) }
		all["old ticket"] = func(h *hands) {
			h.believed = true
			h.tokens = append(slices.Clone(h.tokens), p.hello(h, id, admission.Ticket))
		}
	}
	for i, token := range h.tokens {
		all[fmt.Sprint("old prints ", i)] = func(h *hands) {
			line := admission.Show{Code: token.Code, At: h.time()}
			h.lines = append(slices.Clone(h.lines), line)
			p.apply(h, line)
		}
		all[fmt.Sprint("entered ", i)] = func(h *hands) {
			h.believed = true
			p.apply(h, admission.Admit{Code: token.Code})
		}
	}
}

// newMoves are those of the machine after its reset. Its record still has the lines of before.
func (p *passage) newMoves(h *hands, all map[string]func(h *hands)) {
	if h.mine.ID == "" {
		all["hello"] = func(h *hands) { h.mine = p.hello(h, "m") }
	} else {
		all["speaks"] = func(h *hands) { p.apply(h, admission.Speak{Claim: h.mine}) }
	}
	if len(h.lines) > 0 {
		all["search"] = func(h *hands) {
			for _, line := range h.lines {
				p.apply(h, line)
			}
		}
	}
}

// check is what has to hold in every state.
func (p *passage) check(h *hands) error {
	i := h.adm.Incumbent
	switch {
	case i == nil:
		return nil
	case h.handed && h.runs:
		return fmt.Errorf("%s is admitted by %s before the machine was reset", i.ID, i.By)
	case !h.runs && i.ID != h.mine.ID:
		return fmt.Errorf("%s of the old system is admitted by %s after the reset", i.ID, i.By)
	case i.By == string(admission.Console) && h.runs && !h.believed:
		return fmt.Errorf("%s is admitted by what the old system has printed", i.ID)
	}
	return nil
}

// key is a state, with its times as ages.
func (h *hands) key() string {
	adm := h.adm
	adm.Calls = 0 // wakes polls, and decides nothing
	text, err := json.Marshal([]any{adm, h.now, h.node, h.runs, h.believed, h.tokens, h.lines, h.mine})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (p *passage) explore() (int, error) {
	start := hands{runs: true, node: admission.Node{Level: p.level, Generation: 1, Local: true},
		adm: admission.State{Generation: 1, OnDisk: true}} // as it is left by the report of the jump
	seen, level := map[string]bool{}, []hands{start}
	for range oldDepth {
		var next []hands
		for _, at := range level {
			for name, move := range p.moves(&at) {
				h := at
				move(&h)
				if err := p.check(&h); err != nil {
					return len(seen), fmt.Errorf("%w, after the move %q", err, name)
				}
				if key := h.key(); !seen[key] {
					seen[key] = true
					next = append(next, h)
				}
			}
		}
		level = next
	}
	return len(seen), nil
}

var passages = map[string]passage{
	"expected, reset":    {level: admission.Expected},
	"proven, reset":      {level: admission.Proven},
	"open, handover":     {level: admission.Open, handover: true},
	"expected, handover": {level: admission.Expected, handover: true},
	"proven, handover":   {level: admission.Proven, handover: true},
}

func TestNothingOfTheOldSystemCounts(t *testing.T) {
	for name, p := range passages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.step = admission.Step
			states, err := p.explore()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}

// oldMutants of the rules, each with a passage in which the model must find it.
var oldMutants = map[string]struct {
	passage string
	mutant  mutant
}{
	"a reset ends nothing": {"proven, reset", input(func(in *admission.Input) {
		if expect, is := in.Event.(admission.Expect); is {
			expect.Reset = false
			in.Event = expect
		}
	})},
	"claims with evidence outlive the reset": {"proven, reset", after(
		func(before admission.State, in admission.Input, after *admission.State) {
			if expect, is := in.Event.(admission.Expect); is && expect.Reset {
				after.Claims = before.Claims
			}
		})},
	"the epoch stays": {"expected, reset", after(
		func(_ admission.State, _ admission.Input, after *admission.State) { after.Epoch = 0 })},
	"the console of an installed system counts": {"proven, reset", mutant{in: func(in *admission.Input) {
		in.Node.Local = false
	}, out: func(_ admission.State, _ admission.Input, after *admission.State) { after.OnDisk = false }}},
	"a handover admits": {"expected, handover", after(
		func(_ admission.State, _ admission.Input, after *admission.State) { after.HandedOver = time.Time{} })},
	"a window ends a handover": {"open, handover", after(
		func(_ admission.State, in admission.Input, after *admission.State) {
			if _, is := in.Event.(admission.Expect); is {
				after.HandedOver = time.Time{}
			}
		})},
	"an operator's word ends a handover": {"proven, handover", after(
		func(_ admission.State, in admission.Input, after *admission.State) {
			if _, is := in.Event.(admission.Admit); is {
				after.HandedOver = time.Time{}
			}
		})},
}

func TestTheOldSystemFindsMutants(t *testing.T) {
	for name, m := range oldMutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := passages[m.passage], setting{}
			m.mutant.into(&s)
			p.step = s.step
			if states, err := p.explore(); err == nil {
				t.Fatalf("not found in %d states", states)
			}
		})
	}
}
