// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// move is one thing that can happen.
type move struct {
	name string
	make func(w *world) error
}

func (s *setting) moves(w *world) []move {
	list := []move{{"tick", s.tick}}
	if w.cuts < s.cuts && w.power != off {
		list = append(list, move{"cut", func(w *world) error { w.cuts++; s.cut(w); return nil }})
	}
	if w.power == off {
		list = append(list, move{"power", s.expect})
	}
	if w.done && w.node == 1 {
		list = append(list, move{"bind", func(w *world) error {
			w.node, w.local, w.done, w.seeded, w.boots, w.level = 2, false, false, false, 0, admission.Open
			if w.adm.Incumbent != nil {
				w.level = w.adm.Incumbent.Level
			}
			return nil
		}})
	}
	if w.claim != "" && s.evidence != "" {
		list = append(list, move{"evidence", func(w *world) error {
			_, err := s.apply(w, admission.Prove{Code: w.claim, Evidence: s.evidence})
			return err
		}})
	}
	if s.impostor {
		list = append(list, s.impostorMoves(w)...)
	}
	return list
}

// tick lets time pass; the machine does what its protocol demands.
func (s *setting) tick(w *world) error {
	w.now, w.said = w.now+1, false
	if _, err := s.apply(w, admission.Tick{}); err != nil {
		return err
	}
	switch {
	case w.power > 0:
		w.power--
		return nil
	case w.power == 0:
		w.power = on
		return s.hello(w)
	case w.power != on:
		return nil
	}
	if i := w.adm.Incumbent; i != nil && i.ID == w.claim && i.Asked.IsZero() && w.seeded &&
		w.time().Sub(i.Seen) < idlePoll*tick {
		return nil // it waits in a long poll
	}
	return s.speak(w)
}

func (s *setting) hello(w *world) error {
	w.ids++
	w.claim, w.word = fmt.Sprintf("m%d", w.ids), w.now
	_, err := s.apply(w, admission.Arrive{Claim: admission.Claim{ID: w.claim, Code: w.claim, Link: admission.LinkSame}})
	return err
}

// speak is the machine's request. It says hello again when its claim has ended, and leaves when it has its secrets.
func (s *setting) speak(w *world) error {
	w.word = w.now
	out, err := s.apply(w, admission.Speak{Claim: admission.Claim{ID: w.claim}})
	if err != nil {
		return err
	}
	if out.Standing == admission.Unknown {
		return s.hello(w)
	}
	may := w.adm.May(w.claim, s.rules, s.nodeOf(w), w.time())
	if out.Standing != admission.Admitted && (may.Plan || may.Secrets) {
		return fmt.Errorf("%s is not admitted, and has rights", w.claim)
	}
	switch {
	case w.seeded && !w.contested:
		return s.leave(w)
	case may.Secrets:
		w.seeded = true
	}
	return nil
}

// leave is the jump into the installed system.
func (s *setting) leave(w *world) error {
	// Truth first: what the machine did not expect must not be admitted after it.
	w.window, w.contested, w.power, w.done, w.local = w.now, false, off, true, true
	claim := w.claim
	w.claim = ""
	_, err := s.apply(w, admission.Leave{ID: claim})
	return err
}

func (s *setting) cut(w *world) {
	w.power, w.claim = firmware-1, ""
	if !w.done {
		w.seeded = false
	}
}

// expect is an operator's power cycle: the window opens when the BMC has confirmed it.
func (s *setting) expect(w *world) error {
	s.cut(w)
	w.local = false // it did not confirm, or is to be imaged again
	w.opened, w.window, w.boots, w.contested = w.now, w.now+int(s.window/tick), 0, false
	_, err := s.apply(w, admission.Expect{For: s.window, By: "power"})
	return err
}

func (s *setting) impostorMoves(w *world) []move {
	var list []move
	if !w.said {
		for _, link := range s.links {
			list = append(list, move{"impostor hello " + string(link), func(w *world) error {
				w.ids++
				w.said = true
				id := fmt.Sprintf("x%d", w.ids)
				if link == admission.LinkOther {
					id = fmt.Sprintf("w%d", w.ids)
				}
				_, err := s.apply(w, admission.Arrive{Claim: admission.Claim{ID: id, Code: id, Link: link}})
				return err
			}})
		}
	}
	ids := make([]string, 0, 4)
	for _, claim := range w.adm.Claims {
		ids = append(ids, claim.ID)
	}
	if w.adm.Incumbent != nil {
		ids = append(ids, w.adm.Incumbent.ID)
		if id := w.adm.Incumbent.ID; !ofMachine(id) {
			list = append(list, move{"impostor leaves", func(w *world) error {
				w.window, w.contested, w.local = w.now, false, true
				_, err := s.apply(w, admission.Leave{ID: id})
				return err
			}})
		}
	}
	for _, id := range ids {
		if !ofMachine(id) {
			list = append(list, move{"impostor " + id, func(w *world) error {
				if _, err := s.apply(w, admission.Speak{Claim: admission.Claim{ID: id}}); err != nil {
					return err
				}
				return s.impostorMay(w, id)
			}})
		}
	}
	return list
}

// finishes: from any world the machine gets its secrets. With an impostor that never stops, a person who reads its code
// is enough; without one, nobody is needed.
func (s *setting) finishes(w world) error {
	if w.power == off || w.done {
		return nil
	}
	if s.impostor {
		return s.finishesByPerson(w)
	}
	if w.boots >= s.truth.Boots || s.level >= admission.Proven {
		return nil
	}
	for range 40 {
		if err := s.tick(&w); err != nil {
			return err
		}
		if w.done {
			return nil
		}
	}
	return fmt.Errorf("the machine never finishes by itself: %+v", w.adm.Incumbent)
}

func (s *setting) finishesByPerson(w world) error {
	if w.claim == "" {
		return nil // in its firmware
	}
	if _, err := s.apply(&w, admission.Admit{Code: w.claim}); err != nil {
		return err
	}
	if _, err := s.apply(&w, admission.Speak{Claim: admission.Claim{ID: w.claim}}); err != nil {
		return err
	}
	if may := w.adm.May(w.claim, s.rules, s.nodeOf(&w), w.time()); !may.Secrets && s.claimLives(&w) {
		return fmt.Errorf("a person admitted the machine, and it gets no secrets: %s", may.Reason)
	}
	return nil
}

// claimLives: a claim that was replaced by others has to be made again.
func (s *setting) claimLives(w *world) bool {
	for _, claim := range w.adm.Claims {
		if claim.ID == w.claim {
			return true
		}
	}
	return w.adm.Incumbent != nil && w.adm.Incumbent.ID == w.claim
}
