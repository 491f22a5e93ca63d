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

// The model is every order of what a machine, an impostor, power cuts and an operator do to one node, to a depth.
// Time runs in ticks. The machine follows the contract: it comes back a fixed time after a cut, says hello, and answers
// when it is asked. The impostor does what it likes, and reads the operator's mind, but not the machine's console.

const tick = 10 * time.Second

// modelRules are the default rules, shortened.
func modelRules() admission.Rules {
	return admission.Rules{Silence: 2 * tick, Answer: tick, Retry: 4 * tick, Hold: 6 * tick, ClaimIdle: 6 * tick,
		ClaimAge: 30 * tick, IncumbentLag: 9 * tick, IncumbentAge: 30 * tick, Claims: 3, Listing: tick, Proofs: 2, Ended: 4,
		Boots: 3}
}

const (
	firmware   = 3 // ticks from a cut to the machine's hello
	windowTime = 14 * tick
	idlePoll   = 3 // ticks between words of a machine that waits and is not asked
)

type stepper func(admission.State, admission.Input) (admission.State, admission.Outcome)

// setting of a run of the model.
type setting struct {
	level    admission.Level
	impostor bool // takes part
	links    []admission.Link
	evidence admission.Evidence // that the machine's code yields; empty: none
	cuts     int
	window   time.Duration // that an operator opens; 0: windowTime
	boots    int           // limit; 0: that of modelRules
	depth    int

	truth admission.Rules // what has to hold
	rules admission.Rules // what is tested
	step  stepper
}

// ready completes a setting.
func (s setting) ready(depth int) setting {
	s.truth, s.step, s.depth = modelRules(), admission.Step, depth
	if s.boots != 0 {
		s.truth.Boots = s.boots
	}
	if s.window == 0 {
		s.window = windowTime
	}
	s.rules = s.truth
	return s
}

// world is a node, its machine and an impostor.
type world struct {
	adm admission.State
	now int // ticks
	ids int
	// power: ticks of firmware that are left; or one of the states below.
	power  int
	claim  string // of the machine
	seeded bool   // the machine has its secrets
	done   bool   // and runs from its disk
	node   int64  // generation
	cuts   int
	said   bool // the impostor said hello in this tick
	local  bool // sledd believes that the node runs from its disk
	word   int  // tick of the machine's last word

	// What has to hold, kept apart from the state that is tested.
	window    int // tick at which the newest window ends
	opened    int // tick at which it opened
	boots     int
	level     admission.Level // highest in this generation
	contested bool
}

const (
	off = -1
	on  = -2
)

// Claims are named m1, x2, or w3: an impostor with a wrong link.
func ofMachine(id string) bool { return id[0] == 'm' }
func wrong(id string) bool     { return id[0] == 'w' }

func (w *world) time() time.Time { return epoch.Add(time.Duration(w.now) * tick) }

func (s *setting) nodeOf(w *world) admission.Node {
	return admission.Node{Level: s.level, Generation: w.node, Local: w.local, Unfinished: !w.local}
}

// apply makes a step, and checks what has to hold for every step.
func (s *setting) apply(w *world, event admission.Event) (admission.Outcome, error) {
	before := w.adm
	next, out := s.step(before, admission.Input{Now: w.time(), Rules: s.rules, Node: s.nodeOf(w), Event: event})
	w.adm = next
	if len(next.Claims) > s.truth.Claims {
		return out, fmt.Errorf("%d claims", len(next.Claims))
	}
	if err := s.checkEnd(w, before, out); err != nil {
		return out, err
	}
	if err := s.checkAdmission(w, before, event); err != nil {
		return out, err
	}
	return out, s.checkRival(w, before, event, out)
}

// checkEnd: an incumbent ends only by silence, its own word, age, an operator, or evidence that it lacks.
func (s *setting) checkEnd(w *world, before admission.State, out admission.Outcome) error {
	old, now := before.Incumbent, w.adm.Incumbent
	if old == nil || now != nil && now.ID == old.ID {
		return nil
	}
	rules := s.truth
	silent := w.time().Sub(old.Seen)
	switch {
	case now == nil:
		reason := ""
		for _, note := range out.Notes {
			if note.Kind == admission.Left {
				reason = note.Reason
			}
		}
		byTime := silent >= rules.IncumbentLag || w.time().Sub(old.At) >= rules.IncumbentAge
		if !byTime && reason != "it left the Sled system" && reason != "revoked by an operator" {
			return fmt.Errorf("the incumbent %s ended: %q", old.ID, reason)
		}
	case !now.Admitted.IsZero():
	case old.Level < admission.Proven && now.Level >= admission.Proven:
	case silent >= rules.Silence && !old.Asked.IsZero() && w.time().Sub(old.Asked) >= rules.Answer:
	case silent >= rules.IncumbentLag:
	default:
		return fmt.Errorf("%s ended the incumbent %s, which spoke %s ago", now.ID, old.ID, silent)
	}
	return nil
}

// checkAdmission: nobody is admitted below the required level, without an expected boot, or too often.
func (s *setting) checkAdmission(w *world, before admission.State, event admission.Event) error {
	old, now := before.Incumbent, w.adm.Incumbent
	if now == nil || old != nil && old.ID == now.ID && old.Level == now.Level {
		return nil
	}
	if required := max(s.level, w.level); now.Level < required {
		return fmt.Errorf("%s admitted at %s, required is %s", now.ID, now.Level, required)
	}
	w.level = max(w.level, now.Level)
	if old != nil && old.ID == now.ID {
		w.contested = false
		return nil
	}
	if speak, own := event.(admission.Speak); !own || speak.Claim.ID != now.ID {
		return fmt.Errorf("%s admitted by %T", now.ID, event)
	}
	expected := w.now < w.window
	byOperator := !now.Admitted.IsZero()
	if w.boots++; w.boots > s.truth.Boots && !w.local && !byOperator {
		return fmt.Errorf("%d admissions without an operator, the last of %s by %s", w.boots, now.ID, now.By)
	}
	if now.Level >= admission.Proven || byOperator {
		w.contested = false
		return nil
	}
	successor := old != nil && w.time().Sub(old.Seen) <= s.truth.Retry && !w.local
	switch {
	case wrong(now.ID):
		return fmt.Errorf("%s admitted with the link of another MAC", now.ID)
	case w.local && !expected:
		return fmt.Errorf("%s admitted while the node runs from its disk", now.ID)
	case s.level == admission.Expected && !expected && !successor:
		return fmt.Errorf("%s admitted although no boot was expected", now.ID)
	case s.level == admission.Expected && w.contested:
		return fmt.Errorf("%s admitted in a contest", now.ID)
	}
	return nil
}

// checkRival: two that speak in turns are an alarm, and one with a wrong link is none.
func (s *setting) checkRival(w *world, before admission.State, event admission.Event, out admission.Outcome) error {
	speak, spoke := event.(admission.Speak)
	old := before.Incumbent
	alarmed := false
	for _, note := range out.Notes {
		if note.Kind == admission.RivalAlarm {
			alarmed = true
			if wrong(note.Claim.ID) {
				return fmt.Errorf("%s is a rival with the link of another MAC", note.Claim.ID)
			}
		}
	}
	if alarmed && w.adm.Incumbent != nil && w.adm.Incumbent.Level == admission.Expected {
		w.contested = true
	}
	if !spoke || old == nil || speak.Claim.ID != old.ID || w.adm.Incumbent == nil || w.adm.Incumbent.ID != old.ID {
		return nil
	}
	for _, claim := range w.adm.Claims {
		other := ofMachine(claim.ID) != ofMachine(old.ID) && !wrong(claim.ID)
		if other && claim.Seen.After(old.At) && !claim.Rival {
			return fmt.Errorf("no alarm: %s and %s both live", claim.ID, old.ID)
		}
	}
	return nil
}

// impostorMay: the impostor gets no secret. At expected that holds until the machine was silent as long as the hold.
func (s *setting) impostorMay(w *world, id string) error {
	may := w.adm.May(id, s.rules, s.nodeOf(w), w.time())
	required := max(s.level, w.level)
	silent := time.Duration(w.now-max(w.word, w.opened)) * tick
	if may.Secrets && (required >= admission.Proven || required == admission.Expected && silent < s.truth.Hold) {
		return fmt.Errorf("the impostor %s got the secrets", id)
	}
	if may.Plan && required >= admission.Proven {
		return fmt.Errorf("the impostor %s got the plan", id)
	}
	return nil
}

// trace is how a world was reached.
type trace struct {
	before *trace
	move   string
}

func (t *trace) String() string {
	var moves []string
	for ; t != nil && t.before != nil; t = t.before {
		moves = append(moves, t.move)
	}
	slices.Reverse(moves)
	return strings.Join(moves, "; ")
}

type place struct {
	world
	*trace
}

// explore visits every world that is reachable within the depth, and returns their number.
func (s *setting) explore() (int, error) {
	start := place{world{power: off, node: 1, adm: admission.State{Generation: 1}}, &trace{}}
	seen := map[string]bool{start.key(): true}
	level := []place{start}
	var w world // one for all moves: it is copied where it is kept
	for depth := 0; depth < s.depth && len(level) > 0; depth++ {
		var next []place
		for _, at := range level {
			for _, move := range s.moves(&at.world) {
				w = at.world
				err := move.make(&w)
				if key := w.key(); err == nil && !seen[key] {
					seen[key] = true
					if depth+1 < s.depth { // nothing follows the last ones, and most worlds are among them
						next = append(next, place{w, &trace{at.trace, move.name}})
					}
					err = s.finishes(w)
				}
				if err != nil {
					return len(seen), fmt.Errorf("%w\nafter: %s", err, &trace{at.trace, move.name})
				}
			}
		}
		level = next
	}
	return len(seen), nil
}

var unknown, wrongOnly, bothLinks = []admission.Link{admission.LinkUnknown}, []admission.Link{admission.LinkOther},
	[]admission.Link{admission.LinkUnknown, admission.LinkOther}

var settings = map[string]setting{
	"open":         {level: admission.Open, impostor: true, links: unknown, cuts: 1},
	"expected":     {level: admission.Expected, impostor: true, links: unknown, cuts: 1},
	"two cuts":     {level: admission.Expected, impostor: true, links: unknown, cuts: 2},
	"links":        {level: admission.Expected, impostor: true, links: bothLinks},
	"wrong link":   {level: admission.Expected, impostor: true, links: wrongOnly, cuts: 2},
	"recorded":     {level: admission.Expected, impostor: true, links: unknown, cuts: 1, evidence: admission.Console},
	"proven":       {level: admission.Proven, impostor: true, links: unknown, cuts: 2, evidence: admission.Console},
	"few boots":    {level: admission.Expected, impostor: true, links: unknown, boots: 2},
	"short window": {level: admission.Expected, impostor: true, cuts: 2, window: 5 * tick},
	"alone":        {level: admission.Expected, cuts: 3},
}

func TestModel(t *testing.T) {
	for name, s := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.ready(modelDepth)
			states, err := s.explore()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states to depth %d", states, s.depth)
		})
	}
}
