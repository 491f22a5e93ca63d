// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// step applies an event to the admission of a unit of work.
func step(tx *nodetx.Tx, event admission.Event) admission.Outcome {
	next, out := admission.Step(*tx.Admission(), admission.Input{Now: tx.Now, Rules: admission.DefaultRules(),
		Node: admission.Node{Level: admission.Open}, Event: event})
	*tx.Admission() = next
	return out
}

func arrive(id string) admission.Event {
	return admission.Arrive{Claim: admission.Claim{ID: id, Code: id, Link: admission.LinkSame}}
}

func TestAnAdmissionIsStoredWhole(t *testing.T) {
	db, _ := fresh()
	secret, record := token.Mint(token.Boot, node, 0, now, time.Hour)
	update(t, db, node, func(tx *nodetx.Tx) {
		step(tx, arrive(record.SHA256))
		step(tx, admission.Expect{For: time.Minute, By: "power"})
		step(tx, admission.Speak{Claim: admission.Claim{ID: record.SHA256}})
		step(tx, arrive("other"))
	})
	tx := load(t, db, node)
	state := tx.Admission()
	if state.Incumbent == nil || token.Find([]token.Record{record}, secret, now) != 0 ||
		state.Incumbent.ID != token.Hash(secret) || state.Incumbent.By != "open" || len(state.Claims) != 1 ||
		!state.Window.Ends.Equal(now.Add(time.Minute)) || !state.Incumbent.Asked.Equal(now) {
		t.Errorf("stored: %s", tx.StoredValue(nodetx.AdmissionOf))
	}
}

func TestOfTwoClaimsAtOnceOneIsAdmitted(t *testing.T) {
	db, _ := fresh()
	attempts := 0
	var first, second admission.Outcome
	update(t, db, node, func(tx *nodetx.Tx) {
		if attempts++; attempts == 1 { // another sledd is quicker
			update(t, db, node, func(tx *nodetx.Tx) {
				step(tx, arrive("b"))
				second = step(tx, admission.Speak{Claim: admission.Claim{ID: "b"}})
			})
		}
		step(tx, arrive("a"))
		first = step(tx, admission.Speak{Claim: admission.Claim{ID: "a"}})
	})
	if attempts != 2 || first.Standing != admission.Waiting || second.Standing != admission.Admitted {
		t.Errorf("%d attempts, a: %+v, b: %+v", attempts, first, second)
	}
	if state := load(t, db, node).Admission(); state.Incumbent.ID != "b" || len(state.Claims) != 1 ||
		state.Claims[0].ID != "a" {
		t.Errorf("%+v", state)
	}
}

func TestOfManyClaimsAtOnceOneIsAdmitted(t *testing.T) {
	db, _ := fresh()
	outcomes := make([]admission.Outcome, 4)
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() {
			id := string(rune('a' + i))
			err := db.Update(t.Context(), node, nil, func(tx *nodetx.Tx) error {
				step(tx, arrive(id))
				outcomes[i] = step(tx, admission.Speak{Claim: admission.Claim{ID: id}})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	admitted := 0
	for _, out := range outcomes {
		if out.Standing == admission.Admitted {
			admitted++
		}
	}
	if state := load(t, db, node).Admission(); admitted != 1 || state.Incumbent == nil || len(state.Claims) != 3 {
		t.Errorf("%d admitted: %+v", admitted, state)
	}
}

// A node boots no disk during a detour. One that has left it boots as it would have without.
func TestBootsDisk(t *testing.T) {
	db, _ := fresh()
	rescue := &api.Rescue{}
	for _, phase := range api.Phases() {
		local := slices.Contains([]api.Phase{api.Starting, api.Operational, api.Unconfirmed, api.Captured}, phase)
		for _, c := range []struct {
			name, run string
			detour    detour.Detour
			want      bool
		}{
			{"no detour", "", detour.Detour{}, local},
			{"a rescue that is requested", "", detour.Detour{Rescue: rescue}, false},
			{"a rescue that has its plan", "rescue", detour.Detour{Run: 7, Rescue: rescue}, false},
			{"a return", detour.Return, detour.Detour{}, local},
		} {
			update(t, db, node, func(tx *nodetx.Tx) {
				tx.Bind(nodetx.Binding{Binding: api.Binding{Generation: 3}}, true)
				*tx.Status() = api.Status{Phase: phase, Generation: 3, Run: api.Run{Number: 7, Generation: 3, Detour: c.run}}
				tx.SetDetour(c.detour)
				if got := tx.BootsDisk(); got != c.want {
					t.Errorf("%s, phase %s: %t, want %t", c.name, phase, got, c.want)
				}
			})
		}
	}
}
