// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/capacity"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// One that was issued just now is not read at all.
func TestALiveTokenIsReadOncePerMinute(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	reads := 0
	m.memory.Before(func(call string) error {
		if call == "read" {
			reads++
		}
		return nil
	})
	for i, want := range []int{0, 0, 0, 1, 1} {
		if i == 3 {
			m.after(2 * time.Minute)
		}
		if err := m.Authenticate(t.Context(), mac, m.token); err != nil || reads != want {
			t.Errorf("request %d: %d reads, want %d: %v", i, reads, want, err)
		}
	}
	m.after(2 * time.Hour) // it has expired
	for range 2 {
		if err := m.Authenticate(t.Context(), mac, m.token); !refusal.Is(err, refusal.Unauthorized) {
			t.Errorf("an expired token: %v", err)
		}
	}
	if reads != 3 {
		t.Errorf("%d reads: refusals are not remembered", reads)
	}
}

// halfFull is a store that has room for everything but claims.
type halfFull struct{}

func (halfFull) Full() bool { return false }

func (halfFull) Allow(class capacity.Class) error {
	if class == capacity.Claims {
		return refusal.New(refusal.Full, "no room")
	}
	return nil
}

func TestHalfFullStoreTakesOneClaimAndThoseWithEvidence(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.Capacity = halfFull{}
	hello := admission.Hello{Boot: "b1", NIC: mac}
	if _, _, err := m.Hello(t.Context(), stranger(1), "", hello, intake.Source{}); !refusal.Is(err, refusal.Full) {
		t.Errorf("of a machine that is not declared: %v", err)
	}
	if _, _, err := m.Hello(t.Context(), mac, "", hello, intake.Source{}); err != nil {
		t.Errorf("the only one of a node: %v", err)
	}
	_, _, err := m.Hello(t.Context(), mac, "", hello, intake.Source{})
	if claims := m.load().Admission().Claims; err != nil || len(claims) != 1 {
		t.Errorf("a second one is answered, and not stored: %v, %+v", err, claims)
	}
	m.after(15 * time.Minute) // the first has ended
	if _, _, err := m.Hello(t.Context(), mac, "", hello, intake.Source{}); err != nil {
		t.Errorf("the only one of a node: %v", err)
	}
	var ticket string
	m.change(func(tx *nodetx.Tx) {
		text, record := token.Mint(token.Ticket, mac, tx.Generation(), tx.Now, time.Hour)
		ticket = text
		tx.SetTokens([]token.Record{record})
	})
	if _, _, err := m.Hello(t.Context(), mac, ticket, hello, intake.Source{}); err != nil {
		t.Errorf("with a ticket: %v", err)
	}
}
