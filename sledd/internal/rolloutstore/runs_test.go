// SPDX-License-Identifier: Apache-2.0

package rolloutstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// started starts a rollout of the first nodes of a rack in one wave.
func (r *rack) started(nodes int) string {
	r.Helper()
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i+1)
	}
	shown, _, err := r.Start(r.Context(), "reimage", "alice", api.RolloutSpec{Nodes: names, Desired: "d12"})
	if err != nil {
		r.Fatal(err)
	}
	return shown.Name
}

func item(node string, state api.RunState, reason string) api.NodeRunItem {
	return api.NodeRunItem{Node: node, NodeRunSpec: api.NodeRunSpec{State: state, Reason: reason}}
}

// starts are reports that each of the first nodes has started.
func starts(nodes int) []api.NodeRunItem {
	items := make([]api.NodeRunItem, nodes)
	for i := range items {
		items[i] = item(fmt.Sprintf("n%d", i+1), api.RunRunning, "")
	}
	return items
}

// states of the first nodes of a rollout.
func (r *rack) states(name string, nodes int) string {
	r.Helper()
	shown, err := r.Get(r.Context(), name)
	if err != nil {
		r.Fatal(err)
	}
	var words []string
	for _, run := range shown.Runs[:nodes] {
		words = append(words, string(run.State))
	}
	return strings.Join(words, " ")
}

func TestReportsOnManyNodesShareTransactions(t *testing.T) {
	const nodes = 200
	r := newRackOf(t, nodes)
	name := r.started(nodes)
	var calls atomic.Int64
	r.memory().Before(func(string) error { calls.Add(1); return nil })
	answer, err := r.PutRuns(t.Context(), name, starts(nodes))
	r.memory().Before(nil)
	if err != nil || answer.Rollout.Counts.Running != nodes {
		t.Fatalf("%+v, %v", answer.Rollout.Counts, err)
	}
	for i, result := range answer.Items {
		if result.Run == nil || result.Run.MAC != address(i+1) {
			t.Fatalf("item %d: %+v", i, result)
		}
	}
	if calls.Load() > nodes/8 {
		t.Errorf("%d calls of the store for %d nodes", calls.Load(), nodes)
	}
}

func TestAReportThatIsRefusedKeepsNoOtherFromBeingRecorded(t *testing.T) {
	r := newRackOf(t, 5)
	name := r.started(4)
	answer, err := r.PutRuns(t.Context(), name, []api.NodeRunItem{
		item("n1", api.RunRunning, ""),
		item("n9", api.RunRunning, ""),
		item("52:54:00:77", api.RunRunning, ""),
		item("n5", api.RunRunning, ""),
		item("n2", api.RunDone, ""),
		item("n3", api.RunFailed, " "),
		item("n4", api.RunRunning, ""),
		item(address(4), api.RunFailed, "it is named twice, and this is the later one"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "n9 does not exist", "52:54:00:77", "n5 is not in rollout", "binding of node n2",
		"has a reason", "", ""} {
		refused, recorded := answer.Items[i].Refused, answer.Items[i].Run != nil
		if recorded != (want == "") || (refused == "") != recorded || !strings.Contains(refused, want) {
			t.Errorf("item %d: %+v, want %q", i, answer.Items[i], want)
		}
	}
	if states := r.states(name, 4); states != "running waiting waiting failed" {
		t.Error(states)
	}
}

func TestADamagedRecordKeepsNoOtherReportFromBeingRecorded(t *testing.T) {
	r := newRackOf(t, 4)
	name := r.started(4)
	var change store.Transaction
	change.Put(key.RunsOf(name)+address(2), []byte(`{"node":`))
	if _, err := r.Store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	_, err := r.PutRuns(t.Context(), name, starts(4))
	var unavailable *store.UnavailableError
	if !errors.As(err, &unavailable) {
		t.Errorf("a damaged record is no error: %v", err)
	}
	var mended store.Transaction
	mended.Delete(key.RunsOf(name) + address(2))
	if _, err := r.Store.Commit(t.Context(), mended); err != nil {
		t.Fatal(err)
	}
	if states := r.states(name, 4); states != "running waiting running running" {
		t.Error(states)
	}
}

func TestOfARolloutThatIsAbortedMeanwhileNoNodeIsStarted(t *testing.T) {
	r := newRackOf(t, 4)
	name := r.started(4)
	r.before(func() {
		if _, err := r.Abort(t.Context(), name, "bob"); err != nil {
			t.Error(err)
		}
	})
	answer, err := r.PutRuns(t.Context(), name, starts(4))
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range answer.Items {
		if !strings.Contains(result.Refused, "aborted by bob") {
			t.Errorf("item %d: %+v", i, result)
		}
	}
	if one, err := r.Get(t.Context(), name); err != nil || one.Counts.Waiting != 4 || one.Ended.IsZero() {
		t.Errorf("%+v, %v", one, err)
	}
}

func TestReportsAreDecidedAgainWhenOneOfThemIsOvertaken(t *testing.T) {
	r := newRackOf(t, 3)
	name := r.started(3)
	for i := 1; i <= 3; i++ {
		r.put(name, i, api.NodeRunSpec{State: api.RunRunning})
		r.observe(i, 1, true)
	}
	r.before(func() { r.observe(2, 2, false) }) // bound again, and it has not that yet
	answer, err := r.PutRuns(t.Context(), name,
		[]api.NodeRunItem{item("n1", api.RunDone, ""), item("n2", api.RunDone, ""), item("n3", api.RunDone, "")})
	if err != nil || !strings.Contains(answer.Items[1].Refused, "not satisfied") {
		t.Fatalf("%+v, %v", answer.Items, err)
	}
	if states := r.states(name, 3); states != "done running done" {
		t.Error(states)
	}
}
