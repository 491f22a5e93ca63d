// SPDX-License-Identifier: Apache-2.0

package rolloutstore_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

func (r *rack) running(name string, i int) {
	r.Helper()
	r.put(name, i, api.NodeRunSpec{State: api.RunRunning})
}

func (r *rack) failed(name string, i int) recorded {
	r.Helper()
	return r.put(name, i, api.NodeRunSpec{State: api.RunFailed, Reason: "no power"})
}

func (r *rack) get(name string) api.Rollout {
	r.Helper()
	shown, err := r.Get(r.Context(), name)
	if err != nil {
		r.Fatal(err)
	}
	return shown
}

func TestFailedRunKeepsTheEndOfTheLog(t *testing.T) {
	r := newRack(t)
	name := r.started(2)
	r.running(name, 1)
	r.observe(1, 1, false)
	err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
		text := strings.Repeat("old\n", 100) + "chunk 7: bad hash\n--- dmesg\nthe kernel's\n"
		tx.Writes.Put(key.Logs+address(1), []byte(text))
		tx.AddEvent(api.Event{Kind: "log", Bytes: int64(len(text))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	run := r.failed(name, 1).Run
	if log := run.Log.String(); !strings.HasSuffix(log, "old\nchunk 7: bad hash") || strings.Count(log, "\n") != 19 ||
		run.Generation != 1 {
		t.Errorf("%+v", run)
	}
}

// What still runs when a rollout stops or is aborted may end well.
func TestNodesThatRunAreFollowedToTheirEnd(t *testing.T) {
	for want, end := range map[api.RolloutState]func(r *rack, name string){
		api.RolloutStopped: func(r *rack, name string) { r.failed(name, 2) },
		api.RolloutAborted: func(r *rack, name string) {
			if _, err := r.Abort(r.Context(), name, "bob"); err != nil {
				r.Error(err)
			}
		},
	} {
		r := newRack(t)
		name := r.started(2)
		r.running(name, 1)
		end(r, name)
		r.observe(1, 1, true)
		ended := r.put(name, 1, api.NodeRunSpec{State: api.RunDone})
		if ended.Rollout.State != want || ended.Run.State != api.RunDone || ended.Rollout.Counts.Done != 1 {
			t.Errorf("%s: %+v", want, ended)
		}
	}
}

// A node that whoever resumes leaves out, and that this rollout gave nothing, may just not be meant this time.
func TestRolloutIsResumedForSomeNodes(t *testing.T) {
	r := newRack(t)
	r.observe(2, 1, true) // with something older
	name := r.started(2)
	r.running(name, 2)
	r.failed(name, 2)
	spec := api.RolloutSpec{Nodes: []string{"n1"}, Desired: "d12"}
	again, fresh, err := r.Start(t.Context(), "reimage", "alice", spec)
	if err != nil || fresh || again.Counts != (api.RolloutCount{Waiting: 2}) || again.Runs[1].From != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	r.image(name, 1, 1)
	if end := r.image(name, 2, 2); end.Rollout.State != api.RolloutDone || end.Run.Attempts != 2 {
		t.Errorf("%+v", end)
	}
	spec.Again = true // it has ended: a request to image again starts another one
	if _, fresh, err := r.Start(t.Context(), "reimage", "alice", spec); !fresh || err != nil {
		t.Errorf("an ended one was resumed: %v", err)
	}
}

// All fail at once, one more than may: whichever is judged last, the rollout stops, and at that count.
func TestBudgetHoldsWhenManyFailAtOnce(t *testing.T) {
	const nodes, budget = 60, 10
	r := newRackOf(t, nodes)
	var names []string
	for i := 1; i <= nodes; i++ {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	shown, _, err := r.Start(t.Context(), "reimage", "alice",
		api.RolloutSpec{Nodes: names, Desired: "d12", FailureBudget: fmt.Sprint(budget)})
	if err != nil {
		t.Fatal(err)
	}
	var reports sync.WaitGroup
	for i := 1; i <= budget; i++ {
		reports.Go(func() { r.failed(shown.Name, i) })
	}
	reports.Wait()
	if one := r.get(shown.Name); one.State != api.RolloutRunning || one.Counts.Failed != budget {
		t.Errorf("%s, %+v", one.State, one.Counts)
	}
	for i := budget + 1; i <= budget+3; i++ {
		reports.Go(func() { r.failed(shown.Name, i) })
	}
	reports.Wait()
	one := r.get(shown.Name)
	if one.State != api.RolloutStopped || one.Counts.Failed != budget+3 ||
		!strings.HasSuffix(one.Reason.String(), "of 60 nodes failed, 10 allowed") {
		t.Errorf("%s, %s, %+v", one.State, one.Reason, one.Counts)
	}
}

// Old ones go, and no name comes twice.
func TestRolloutsAreTrimmed(t *testing.T) {
	r := newRack(t)
	for i := 1; i <= 53; i++ {
		name := r.started(1)
		if name != fmt.Sprintf("reimage-%d", i) {
			t.Fatal(name)
		}
		r.running(name, 1)
		if _, err := r.Abort(t.Context(), name, "bob"); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.List(t.Context())
	if err != nil || len(list.Items) != 51 || list.Items[0].Name != "reimage-53" || list.Items[50].Name != "reimage-3" {
		t.Errorf("%v, %d rollouts", err, len(list.Items))
	}
}
