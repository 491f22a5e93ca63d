// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Several sledds that start at once on one store agree on one UUID, and every later start reads it.
func TestIdentityIsMadeOnce(t *testing.T) {
	r, found := newRack(t), sync.Map{}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			one, err := r.Identity(t.Context())
			if err != nil {
				t.Error(err)
			}
			found.Store(one, true)
		})
	}
	running.Wait()
	count := 0
	found.Range(func(one, _ any) bool {
		if count++; uuid.Validate(one.(string)) != nil {
			t.Errorf("%q is no UUID", one)
		}
		return true
	})
	if count != 1 {
		t.Errorf("%d identities of one fleet", count)
	}
	if other, err := newRack(t).Identity(t.Context()); err != nil {
		t.Error(err)
	} else if _, same := found.Load(other); same {
		t.Error("another store has the same identity")
	}
}

// A store that does not answer, or holds what cannot be read, is never an empty store.
func TestIdentityOfABrokenStore(t *testing.T) {
	r := newRack(t)
	var away *store.UnavailableError
	r.memory.Before(func(string) error { return &store.UnavailableError{Operation: "read", Err: errors.New("away")} })
	if one, err := r.Identity(t.Context()); one != "" || !errors.As(err, &away) {
		t.Errorf("%q, %v", one, err)
	}
	r.memory.Before(nil)
	var damaged store.Transaction
	damaged.Put(key.Fleet, []byte("{"))
	if _, err := r.memory.Commit(t.Context(), damaged); err != nil {
		t.Fatal(err)
	}
	if one, err := r.Identity(t.Context()); one != "" || !errors.As(err, &away) {
		t.Errorf("%q, %v", one, err)
	}
}

// The key is made with the UUID, once.
func TestTheKeyOfAFleetIsMadeOnce(t *testing.T) {
	r, found := newRack(t), sync.Map{}
	identity, err := r.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			one, err := r.HashKey(t.Context())
			if err != nil || len(one) != 64 {
				t.Errorf("%q, %v", one, err)
			}
			found.Store(one, true)
		})
	}
	running.Wait()
	count := 0
	found.Range(func(any, any) bool { count++; return true })
	if again, err := r.Identity(t.Context()); count != 1 || again != identity {
		t.Errorf("%d keys of one fleet, %q was %q, %v", count, again, identity, err)
	}
	if other, err := newRack(t).HashKey(t.Context()); err != nil {
		t.Error(err)
	} else if _, same := found.Load(other); same {
		t.Error("another store has the same key")
	}
}
