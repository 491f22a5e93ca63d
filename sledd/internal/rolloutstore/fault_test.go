// SPDX-License-Identifier: Apache-2.0

package rolloutstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

func (r *rack) memory() *storetest.Memory {
	r.Helper()
	memory, ok := r.Store.(*storetest.Memory)
	if !ok {
		r.Fatalf("the store is a %T", r.Store)
	}
	return memory
}

// before runs work once, at the start of the next commit: another request is faster.
func (r *rack) before(work func()) {
	r.memory().Before(func(call string) error {
		if call == "commit" {
			r.memory().Before(nil) // work commits as well
			work()
		}
		return nil
	})
}

// all is what the store holds.
func (r *rack) all() string {
	r.Helper()
	snapshot, err := r.Store.Read(context.WithoutCancel(r.Context()), store.Prefix(key.Root))
	if err != nil {
		r.Fatal(err)
	}
	return fmt.Sprint(snapshot.Results[0])
}

// calls are all requests, each of which works while the store does.
func (r *rack) calls(ctx context.Context, name string) map[string]func() error {
	return map[string]func() error{
		"start": func() error {
			_, _, err := r.Start(ctx, "reimage", "bob", api.RolloutSpec{Nodes: []string{"n4"}, Desired: "d12"})
			return err
		},
		"put": func() error {
			_, err := r.PutRuns(ctx, name, single("n1", api.NodeRunSpec{State: api.RunRunning}))
			return err
		},
		"get":   func() error { _, err := r.Get(ctx, name); return err },
		"list":  func() error { _, err := r.List(ctx); return err },
		"abort": func() error { _, err := r.Abort(ctx, name, "bob"); return err },
	}
}

func TestAnOutageOfTheStoreIsReportedAndChangesNothing(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	before := r.all()
	for _, broken := range []string{"read", "commit"} {
		for what, call := range r.calls(t.Context(), started.Name) {
			if broken == "commit" && (what == "get" || what == "list") {
				continue
			}
			r.memory().Before(func(call string) error {
				if call == broken {
					return &store.UnavailableError{Operation: call, Err: errors.New("no leader")}
				}
				return nil
			})
			err := call()
			r.memory().Before(nil)
			var unavailable *store.UnavailableError
			if !errors.As(err, &unavailable) {
				t.Errorf("%s without %s: %v", what, broken, err)
			}
			if r.all() != before {
				t.Fatalf("%s without %s changed the store", what, broken)
			}
		}
	}
}

func TestARequestThatEndedGetsNoAnswer(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range r.calls(ended, started.Name) {
		if err := call(); err == nil {
			t.Errorf("%s succeeded after its context ended", what)
		}
	}
	if one, err := r.Get(t.Context(), started.Name); err != nil || one.Counts.Waiting != 2 {
		t.Errorf("%+v, %v", one.Counts, err)
	}
}

func TestADamagedRecordIsNotTakenForAMissingOne(t *testing.T) {
	for _, damaged := range []string{key.Rollouts + "reimage-1", key.RunsOf("reimage-1") + address(1)} {
		r := newRack(t)
		started, _ := r.start("d12", "n1", "n2")
		var change store.Transaction
		change.Put(damaged, []byte(`{"name":`))
		if _, err := r.Store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		before := r.all()
		for _, what := range []string{"put", "get", "list", "abort"} {
			var unavailable *store.UnavailableError
			if err := r.calls(t.Context(), started.Name)[what](); !errors.As(err, &unavailable) {
				t.Errorf("%s with a damaged %s: %v", what, damaged, err)
			}
		}
		if r.all() != before {
			t.Errorf("a damaged %s was overwritten", damaged)
		}
	}
}

func TestANodeThatIsBoundAgainMeanwhileIsNotDone(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	r.put(started.Name, 1, api.NodeRunSpec{State: api.RunRunning})
	r.observe(1, 1, true)
	r.before(func() {
		err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
			tx.Bind(nodetx.Binding{Binding: api.Binding{BindingSpec: api.BindingSpec{Image: "d13"}, Generation: 2}}, true)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	r.notRecorded("done, by a binding that is replaced", started.Name, "n1", api.NodeRunSpec{State: api.RunDone},
		"it has generation 2")
	if one, err := r.Get(t.Context(), started.Name); err != nil || one.Runs[0].State != api.RunRunning {
		t.Errorf("%+v, %v", one.Runs, err)
	}
}

func TestARecordThatIsAlwaysChangedByOthersIsBusy(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	r.memory().Before(func(call string) error {
		if call == "commit" {
			return store.ErrChanged
		}
		return nil
	})
	for _, what := range []string{"start", "put", "abort"} {
		r.refused(what, r.calls(t.Context(), started.Name)[what](), refusal.Busy, "try again")
	}
}

func TestOfManyEqualRequestsOneStartsTheRollout(t *testing.T) {
	r := newRack(t)
	var running sync.WaitGroup
	var mu sync.Mutex
	names, fresh := map[string]int{}, 0
	for range 8 {
		running.Go(func() {
			one, first, err := r.Start(t.Context(), "reimage", "alice",
				api.RolloutSpec{Nodes: []string{"n1", "n2"}, Desired: "d12"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case refusal.Is(err, refusal.Busy): // it was asked to try again
			case err != nil:
				t.Error(err)
			default:
				names[one.Name]++
				if first {
					fresh++
				}
			}
		})
	}
	running.Wait()
	if list, err := r.List(t.Context()); err != nil || len(list.Items) != 1 || fresh != 1 || len(names) != 1 {
		t.Errorf("%d rollouts, %d of them fresh, named %v, %v", len(list.Items), fresh, names, err)
	}
}

func TestTextOfARunnerCannotReachATerminal(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	r.put(started.Name, 1, api.NodeRunSpec{State: api.RunRunning})
	failed := r.put(started.Name, 1, api.NodeRunSpec{State: api.RunFailed,
		Reason: "write\x1b[2J: code 5\x07 \u202egnp.exe"})
	for what, text := range map[string]string{"run": failed.Run.Reason.String(),
		"rollout": failed.Rollout.Reason.String()} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "code 5") {
			t.Errorf("the reason of the %s: %q", what, text)
		}
	}
}

func TestWavesHoldNoMoreOfOneLabelThanAllowed(t *testing.T) {
	r := newRack(t)
	spec := api.RolloutSpec{Nodes: []string{"n1", "n2", "n3", "n4", "n5"}, Desired: "d12",
		MaxUnavailable: map[string]int{"rack": 2}}
	one, _, err := r.Start(t.Context(), "reimage", "alice", spec)
	if err != nil || fmt.Sprint(one.Waves) != "[[n1 n2] [n3 n4] [n5]]" {
		t.Errorf("%v, %v", one.Waves, err)
	}
	for _, most := range []int{0, -1} {
		spec.MaxUnavailable = map[string]int{"rack": most}
		_, _, err := r.Start(t.Context(), "wipe", "alice", spec)
		r.refused("a limit that lets no node start", err, refusal.Invalid, "max_unavailable")
	}
}
