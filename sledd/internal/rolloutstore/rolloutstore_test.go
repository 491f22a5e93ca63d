// SPDX-License-Identifier: Apache-2.0

package rolloutstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

// rack is five declared nodes, n1 to n5, and Rollouts on a store in memory.
type rack struct {
	*testing.T
	*rolloutstore.Rollouts
}

func address(i int) string { return fmt.Sprintf("52:54:00:77:00:%02x", i) }

func newRack(t *testing.T) *rack {
	t.Helper()
	return newRackOf(t, 5)
}

// newRackOf is a rack of so many nodes, up to 255.
func newRackOf(t *testing.T, nodes int) *rack {
	t.Helper()
	memory := &storetest.Memory{}
	var mu sync.Mutex
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
	for i := 1; i <= nodes; i++ {
		var change store.Transaction
		name := fmt.Sprintf("n%d", i)
		change.Put(key.Nodes+address(i),
			nodetx.Encode(api.NodeSpec{MAC: address(i), Name: name, Labels: map[string]string{"rack": "a"}}))
		change.Put(key.Names+name, []byte(address(i)))
		if _, err := memory.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	return &rack{t, rolloutstore.New(&nodetx.DB{Store: memory, Clock: clock})}
}

// start starts a rollout of nodes with a canary of one.
func (r *rack) start(desired string, nodes ...string) (api.Rollout, bool) {
	r.Helper()
	shown, fresh, err := r.Start(r.Context(), "reimage", "alice",
		api.RolloutSpec{Nodes: nodes, Desired: desired, Canary: "1"})
	if err != nil {
		r.Fatal(err)
	}
	return shown, fresh
}

// observe stores a binding of a node, and whether it is satisfied.
func (r *rack) observe(i int, generation int64, satisfied bool) {
	r.Helper()
	err := r.Update(r.Context(), address(i), nil, func(tx *nodetx.Tx) error {
		tx.Bind(nodetx.Binding{Binding: api.Binding{BindingSpec: api.BindingSpec{Image: "d12"},
			Generation: generation}},
			true)
		tx.Status().Generation, tx.Status().Phase = generation, api.Writing
		if satisfied {
			tx.Status().Phase, tx.Status().Start = api.Operational, "kexec"
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}

// recorded is what became of a report on one node.
type recorded struct {
	Rollout api.Rollout
	Run     api.NodeRun
}

func (r *rack) put(rollout string, i int, spec api.NodeRunSpec) recorded {
	r.Helper()
	answer, err := r.PutRuns(r.Context(), rollout, single(fmt.Sprintf("n%d", i), spec))
	if err != nil || answer.Items[0].Refused != "" {
		r.Fatal(err, answer.Items)
	}
	return recorded{answer.Rollout, *answer.Items[0].Run}
}

// single is a request that reports one node.
func single(node string, spec api.NodeRunSpec) []api.NodeRunItem {
	return []api.NodeRunItem{{Node: node, NodeRunSpec: spec}}
}

// notRecorded expects that a report on a node is refused.
func (r *rack) notRecorded(what, rollout, node string, spec api.NodeRunSpec, text string) {
	r.Helper()
	answer, err := r.PutRuns(r.Context(), rollout, single(node, spec))
	if err != nil || answer.Items[0].Run != nil || !strings.Contains(answer.Items[0].Refused, text) {
		r.Errorf("%s: %v, %+v, want %q", what, err, answer.Items, text)
	}
}

// image takes a node of a rollout from its start to done.
func (r *rack) image(rollout string, i int, generation int64) recorded {
	r.Helper()
	r.put(rollout, i, api.NodeRunSpec{State: api.RunRunning})
	r.observe(i, generation, true)
	return r.put(rollout, i, api.NodeRunSpec{State: api.RunDone})
}

func (r *rack) refused(what string, err error, kind refusal.Kind, text string) {
	r.Helper()
	if !refusal.Is(err, kind) || !strings.Contains(err.Error(), text) {
		r.Errorf("%s: %v, want kind %d and %q", what, err, kind, text)
	}
}

func TestARolloutIsDoneWhenItsNodesAre(t *testing.T) {
	r := newRack(t)
	started, fresh := r.start("d12", "n1", "n2", address(3))
	if !fresh || started.Name != "reimage-1" || len(started.Waves) != 2 || started.Waves[0][0] != "n1" ||
		started.Nodes[2] != "n3" {
		t.Fatalf("%+v", started)
	}
	r.notRecorded("done before it is", started.Name, "n1", api.NodeRunSpec{State: api.RunDone}, "n1 is not satisfied")
	r.notRecorded("a node of no wave", started.Name, "n4", api.NodeRunSpec{State: api.RunRunning}, "is not in rollout")
	for i := 1; i <= 3; i++ {
		answer := r.image(started.Name, i, 1)
		if answer.Run.State != api.RunDone || answer.Run.Start != "kexec" || answer.Run.Attempts != 1 ||
			answer.Run.Generation != 1 {
			t.Errorf("%+v", answer.Run)
		}
		if done := answer.Rollout.State == api.RolloutDone; done != (i == 3) {
			t.Errorf("after n%d the rollout is %s", i, answer.Rollout.State)
		}
	}
	list, err := r.List(t.Context())
	if err != nil || len(list.Items) != 1 || list.Items[0].Counts.Done != 3 || list.Items[0].Ended.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	r.notRecorded("a node that is done", started.Name, "n1", api.NodeRunSpec{State: api.RunRunning}, "n1 is done")
	_, err = r.Abort(t.Context(), started.Name, "bob")
	r.refused("abort of what is done", err, refusal.Conflict, "nothing to abort")
}

func TestAFailedCanaryStopsAndTheSameRequestResumes(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	r.put(started.Name, 1, api.NodeRunSpec{State: api.RunRunning, EntryMethod: "warm"})
	r.notRecorded("a failure without a reason", started.Name, "n1",
		api.NodeRunSpec{State: api.RunFailed, Reason: " "}, "reason")
	failed := r.put(started.Name, 1, api.NodeRunSpec{State: api.RunFailed, Reason: "write: code 5"})
	if failed.Rollout.State != api.RolloutStopped || !strings.Contains(failed.Rollout.Reason.String(),
		"write: code 5") ||
		failed.Run.EntryMethod != "warm" {
		t.Fatalf("%+v", failed)
	}
	r.notRecorded("the next wave of a stopped rollout", started.Name, "n2",
		api.NodeRunSpec{State: api.RunRunning}, "is stopped")
	resumed, fresh := r.start("d12", "n1", "n2")
	if fresh || resumed.Name != started.Name || resumed.Resumed != 1 || resumed.State != api.RolloutRunning {
		t.Fatalf("%+v", resumed)
	}
	if run := resumed.Runs[0]; run.State != api.RunWaiting || run.Attempts != 1 {
		t.Errorf("the failed node: %+v", run)
	}
	if again := r.image(started.Name, 1, 1); again.Run.Attempts != 2 || again.Rollout.State != api.RolloutRunning {
		t.Errorf("%+v", again)
	}
}

func TestResumingEndsRunsThatWereDoneUnseen(t *testing.T) {
	r := newRack(t)
	started, _ := r.start("d12", "n1", "n2")
	r.put(started.Name, 1, api.NodeRunSpec{State: api.RunRunning})
	r.observe(1, 1, true) // and the program that watched it has ended
	resumed, fresh := r.start("d12", "n2")
	if fresh || resumed.Runs[0].State != api.RunDone || resumed.Counts.Done != 1 {
		t.Errorf("%+v", resumed)
	}
}

func TestRolloutsWithSharedNodes(t *testing.T) {
	r := newRack(t)
	first, _ := r.start("d12", "n1", "n2")
	_, _, err := r.Start(t.Context(), "reimage", "bob", api.RolloutSpec{Nodes: []string{"n2", "n3"}, Desired: "d13"})
	r.refused("a node of one that runs", err, refusal.Conflict, first.Name)
	if apart, fresh := r.start("d13", "n4"); !fresh || apart.Name != "reimage-2" {
		t.Errorf("%+v", apart)
	}
	r.put(first.Name, 1, api.NodeRunSpec{State: api.RunRunning})
	r.put(first.Name, 1, api.NodeRunSpec{State: api.RunFailed, Reason: "no disk"})
	third, fresh := r.start("d13", "n2", "n3")
	if !fresh || third.Name != "reimage-3" {
		t.Fatalf("%+v", third)
	}
	old, err := r.Get(t.Context(), first.Name)
	if err != nil || old.State != api.RolloutAborted ||
		!strings.Contains(old.Reason.String(), "replaced by reimage-3; stopped before:") {
		t.Errorf("%+v, %v", old, err)
	}
	aborted, err := r.Abort(t.Context(), third.Name, "bob")
	if err != nil || aborted.State != api.RolloutAborted || aborted.Reason.String() != "aborted by bob" {
		t.Errorf("%+v, %v", aborted, err)
	}
	if _, err := r.Abort(t.Context(), third.Name, "bob"); err != nil {
		t.Errorf("aborted twice: %v", err)
	}
	_, err = r.Get(t.Context(), "reimage-9")
	r.refused("one that is missing", err, refusal.NotFound, "reimage-9")
}

func TestRequestsThatAreAtFaultNameAllFaults(t *testing.T) {
	r := newRack(t)
	_, _, err := r.Start(t.Context(), "reimage", "bob",
		api.RolloutSpec{Nodes: []string{"n1", "nobody", address(1)}, Desired: "d12"})
	r.refused("two faults", err, refusal.Invalid, "not usable")
	var refused *refusal.Error
	if !errors.As(err, &refused) || len(refused.Details) != 2 || refused.Details[0].Location != "body.nodes[1]" {
		t.Errorf("%+v", refused)
	}
	_, _, err = r.Start(t.Context(), "reimage", "bob",
		api.RolloutSpec{Nodes: []string{"n1"}, Desired: "d12", Canary: "200%"})
	r.refused("a canary of too much", err, refusal.Invalid, "")
	list, err := r.List(t.Context())
	if err != nil || len(list.Items) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestManyNodesAreReportedAtTheSameTime(t *testing.T) {
	r := newRack(t)
	shown, _, err := r.Start(t.Context(), "reimage", "alice",
		api.RolloutSpec{Nodes: []string{"n1", "n2", "n3", "n4", "n5"}, Desired: "d12"})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for i := 1; i <= 5; i++ {
		running.Go(func() {
			for _, state := range []api.RunState{api.RunRunning, api.RunDone} {
				if state == api.RunDone {
					r.observe(i, 1, true)
				}
				_, err := r.PutRuns(t.Context(), shown.Name, single(address(i), api.NodeRunSpec{State: state}))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if last, err := r.Get(t.Context(), shown.Name); err != nil || last.State != api.RolloutDone ||
		last.Counts.Done != 5 {
		t.Errorf("%+v, %v", last.Counts, err)
	}
}
