// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// Old ones go, and no name comes twice.
func TestRolloutsAreTrimmed(t *testing.T) {
	c := newCrew(t, 1)
	for i := 1; i <= 53; i++ {
		name := c.start(c.spec()).Name
		if name != fmt.Sprintf("reimage-%d", i) {
			t.Fatal(name)
		}
		c.running(name, 1)
		if _, err := c.Client().AbortRollout(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	list, err := c.Client().Rollouts(t.Context())
	if err != nil || len(list) != 51 || list[0].Name != "reimage-53" || list[50].Name != "reimage-3" {
		t.Errorf("%v, %d rollouts", err, len(list))
	}
}

// Hundreds of runners report at once: every report is kept, and the rollout stops at the right
// count, whoever is last.
func TestRolloutOfHundreds(t *testing.T) {
	const nodes, failures = 500, 26
	c := newCrew(t, nodes)
	items := make([]api.BindingSpec, nodes)
	for i := range items {
		items[i] = api.BindingSpec{Node: c.nodes[i], Image: "d12"}
	}
	c.admin(200, "POST", "/v1/bindings", bulk(items...))
	spec := c.spec()
	spec.FailureBudget = "5%"
	name := c.start(spec).Name
	c.together(nodes, name, api.NodeRunSpec{State: api.RunRunning})
	if counts := c.rollout(name).Counts; counts.Running != nodes {
		t.Fatalf("%+v", counts)
	}
	c.together(failures-1, name, api.NodeRunSpec{State: api.RunFailed, Reason: "no power"})
	if one := c.rollout(name); one.State != api.RolloutRunning || one.Counts.Failed != failures-1 {
		t.Errorf("%s %+v", one.State, one.Counts)
	}
	c.failed(name, failures)
	if one := c.rollout(name); one.State != api.RolloutStopped ||
		one.Reason.String() != "26 of 500 nodes failed, 25 (5%) allowed" {
		t.Errorf("%s %s", one.State, one.Reason)
	}
}

// together reports the same of many nodes concurrently. It retries while the store is slow, as a
// runner does.
func (c crew) together(nodes int, name string, said api.NodeRunSpec) {
	var running sync.WaitGroup
	slots := make(chan struct{}, 100)
	for _, node := range c.nodes[:nodes] {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			var err error
			for range 100 { // a busy machine fails a few at its deadline, each time
				if _, err = c.Client().PutRun(c.Context(), name, node,
					said); api.StatusOf(err) != http.StatusServiceUnavailable {
					break
				}
			}
			if err != nil {
				c.Error(err)
			}
		})
	}
	running.Wait()
}

// One request reports many nodes. What is refused of one changes no other, and the rollout is judged by all of them.
func TestRolloutReportsOfManyNodes(t *testing.T) {
	c := newCrew(t, 4)
	spec := c.spec()
	spec.FailureBudget = "1"
	name := c.start(spec).Name
	item := func(node string, said api.NodeRunSpec) api.NodeRunItem {
		return api.NodeRunItem{Node: node, NodeRunSpec: said}
	}
	put := func(items ...api.NodeRunItem) api.RunsAnswer {
		t.Helper()
		answer, err := c.Client().PutRuns(c.Context(), name, items)
		if err != nil || len(answer.Items) != len(items) {
			t.Fatalf("%v: %+v", err, answer)
		}
		return answer
	}
	var starts []api.NodeRunItem
	for _, node := range []string{"n1", address(2), "n3", "n9", "n4"} {
		starts = append(starts, item(node, api.NodeRunSpec{State: api.RunRunning}))
	}
	started := put(starts...)
	if started.Rollout.Counts.Running != 4 || started.Rollout.Runs != nil || started.Items[1].Run.Node != "n2" ||
		started.Items[3].Run != nil || started.Items[3].Refused != "node n9 does not exist" {
		t.Errorf("%+v", started)
	}
	c.fulfil(1)
	broken := api.NodeRunSpec{State: api.RunFailed, Reason: "write: code 5 integrity"}
	ended := put(item("n1", api.NodeRunSpec{State: api.RunDone, EntryMethod: "power"}), item("n2", broken),
		item("n3", api.NodeRunSpec{State: api.RunDone}), item("n4", broken))
	if ended.Rollout.State != api.RolloutStopped || ended.Rollout.Counts != (api.RolloutCount{Done: 1, Running: 1,
		Failed: 2}) || ended.Items[0].Run.EntryMethod != "power" ||
		!strings.Contains(ended.Items[2].Refused, "the binding of node n3 is not satisfied") {
		t.Errorf("%+v", ended)
	}
	again := put(starts[0])
	if again.Items[0].Refused != "node n1 is done in rollout reimage-1, and is not started again" {
		t.Errorf("%+v", again)
	}
	c.refused(404, "PUT", "/v1/rollouts/reimage-9/runs", api.NodeRunItems{Items: starts}, "does not exist")
}

// All fail at once, a few more than may: whichever is judged last, it stops.
func TestRolloutFailuresAtOnce(t *testing.T) {
	c := newCrew(t, 20)
	spec := c.spec()
	spec.FailureBudget = "10"
	name := c.start(spec).Name
	c.together(11, name, api.NodeRunSpec{State: api.RunFailed, Reason: "no power"})
	if one := c.rollout(name); one.State != api.RolloutStopped || one.Counts.Failed != 11 {
		t.Errorf("%s %+v", one.State, one.Counts)
	}
}

func TestRolloutKeepsRacks(t *testing.T) {
	c := newCrew(t, 4)
	for i, rack := range []string{"a", "a", "b", "b"} {
		spec := sleddtest.Node(i + 1)
		spec.Labels = map[string]string{"rack": rack}
		if _, err := c.Client().PutNode(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	spec := c.spec()
	spec.MaxUnavailable = map[string]int{"rack": 1}
	if waves := c.start(spec).Waves; !slices.EqualFunc(waves, [][]string{{"n1", "n3"}, {"n2", "n4"}}, slices.Equal) {
		t.Errorf("%v", waves)
	}
}
