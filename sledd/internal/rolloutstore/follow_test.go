// SPDX-License-Identifier: Apache-2.0

package rolloutstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// later is a second sledd on the store of a rack, whose clock is set.
func (r *rack) later(now *time.Time) *rack {
	db := *r.DB
	db.Clock = func() time.Time { return *now }
	return &rack{r.T, rolloutstore.New(&db)}
}

func (r *rack) silent(name string) (one, listed int) {
	r.Helper()
	got, err := r.Get(r.Context(), name)
	list, failed := r.List(r.Context())
	if err := errors.Join(err, failed); err != nil {
		r.Fatal(err)
	}
	for _, each := range list.Items {
		if each.Name == name {
			listed = each.Silent
		}
	}
	return got.Silent, listed
}

func TestSilenceOfTheRunnerIsShown(t *testing.T) {
	first := newRack(t)
	started, _ := first.start("d12", "n1", "n2")
	now := started.Started
	r, other := first.later(&now), first.later(&now)
	wants := func(seconds int) {
		t.Helper()
		if one, listed := r.silent(started.Name); one != seconds || listed != seconds {
			t.Errorf("silent for %d s, in the list %d s; want %d", one, listed, seconds)
		}
	}
	now = now.Add(59 * time.Second)
	wants(0)
	now = now.Add(time.Second)
	wants(60)
	for range 3 {
		if err := r.Follow(t.Context(), started.Name); err != nil {
			t.Fatal(err)
		}
	}
	wants(0)
	now = now.Add(61 * time.Second)
	wants(61)
	r.put(started.Name, 1, api.NodeRunSpec{State: api.RunRunning}) // a report is a sign of life too
	wants(0)
	now = now.Add(65 * time.Second)
	if err := other.Follow(t.Context(), started.Name); err != nil { // through another sledd
		t.Fatal(err)
	}
	wants(0)
	now = now.Add(time.Hour)
	wants(3600)
	if one, fresh := r.start("d12", "n1", "n2"); fresh || one.Silent != 0 {
		t.Errorf("a resumed rollout is silent for %d s", one.Silent)
	}
	wants(0)
	now = now.Add(time.Hour)
	if _, err := r.Abort(t.Context(), started.Name, "bob"); err != nil {
		t.Fatal(err)
	}
	wants(0) // nobody has to follow what has ended
}

// Requests arrive every second from each of hundreds of nodes: they are not each written.
func TestFollowingIsWrittenSeldom(t *testing.T) {
	first := newRack(t)
	started, _ := first.start("d12", "n1", "n2")
	now := started.Started
	r := first.later(&now)
	commits := 0
	r.memory().Before(func(call string) error {
		if call == "commit" {
			commits++
		}
		return nil
	})
	for range 300 {
		now = now.Add(100 * time.Millisecond)
		if err := r.Follow(t.Context(), started.Name); err != nil {
			t.Fatal(err)
		}
	}
	if commits != 3 {
		t.Errorf("30 s of requests made %d commits, want 3", commits)
	}
}

func TestFollowingMakesNothing(t *testing.T) {
	first := newRack(t)
	started, _ := first.start("d12", "n1", "n2")
	now := started.Started.Add(time.Hour)
	if _, err := first.Abort(t.Context(), started.Name, "bob"); err != nil {
		t.Fatal(err)
	}
	before := first.all()
	for _, name := range []string{started.Name, "reimage-99"} {
		if err := first.later(&now).Follow(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if after := first.all(); after != before {
		t.Errorf("following what has ended, or never was, changed\n%s\nto\n%s", before, after)
	}
	r := first.later(&now)
	r.memory().Before(func(string) error { return &store.UnavailableError{Operation: "read", Err: errors.New("down")} })
	if err := r.Follow(t.Context(), started.Name); err == nil {
		t.Error("an outage was not reported")
	}
}
