// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// crew runs rollouts of nodes n1 and up that are all bound to image d12.
type crew struct {
	*sledd
	nodes []string
}

func newCrew(t *testing.T, nodes int) crew {
	t.Helper()
	c := crew{sledd: fresh(t)}
	c.Register("d12")
	c.DeclareMany(nodes + 1)
	for i := range nodes {
		c.nodes = append(c.nodes, fmt.Sprintf("n%d", i+1))
	}
	return c
}

func (c crew) spec() api.RolloutSpec { return api.RolloutSpec{Nodes: c.nodes, Desired: "image d12"} }

func (c crew) start(spec api.RolloutSpec) api.Rollout {
	c.Helper()
	started, err := c.Client().StartRollout(c.Context(), "", spec)
	if err != nil {
		c.Fatal(err)
	}
	return started
}

func (c crew) put(name string, i int, spec api.NodeRunSpec) sleddtest.Recorded {
	c.Helper()
	return c.Report(name, fmt.Sprintf("n%d", i), spec)
}

func (c crew) running(name string, i int) api.NodeRun {
	c.Helper()
	return c.put(name, i, api.NodeRunSpec{State: api.RunRunning, EntryMethod: "power"}).Run
}

func (c crew) failed(name string, i int) api.Rollout {
	c.Helper()
	return c.put(name, i, api.NodeRunSpec{State: api.RunFailed, Reason: "write: code 5 integrity"}).Rollout
}

// fulfil binds a node and lets the machine carry it out.
func (c crew) fulfil(i int) {
	c.Helper()
	c.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", i), Image: "d12"}, api.Reimage())
	c.Machine(i).Fulfil()
}

func (c crew) done(name string, i int) sleddtest.Recorded {
	c.Helper()
	return c.put(name, i, api.NodeRunSpec{State: api.RunDone})
}

func (c crew) whole(name string, i int) sleddtest.Recorded {
	c.Helper()
	c.running(name, i)
	c.fulfil(i)
	return c.done(name, i)
}

// notRecorded expects that a report on a node is refused.
func (c crew) notRecorded(name string, i int, state api.RunState, want string) {
	c.Helper()
	answer, err := c.Client().PutRuns(c.Context(), name, []api.NodeRunItem{
		{Node: fmt.Sprintf("n%d", i), NodeRunSpec: api.NodeRunSpec{State: state, Reason: "r"}}})
	if err != nil || answer.Items[0].Run != nil || answer.Items[0].Refused != want {
		c.Errorf("%v, %+v", err, answer.Items)
	}
}

func TestRolloutFromCanaryToDone(t *testing.T) {
	c := newCrew(t, 4)
	spec := c.spec()
	spec.Nodes = []string{"n1", address(2), "n3", "n4"}
	spec.Canary, spec.Batch, spec.FailureBudget = "1", "50%", "25%"
	started := c.start(spec)
	if started.Name != "reimage-1" || started.State != api.RolloutRunning || started.Owner != "admin" ||
		started.Kind != "reimage" ||
		fmt.Sprint(started.Waves) != "[[n1] [n2 n3] [n4]]" || started.Counts != (api.RolloutCount{Waiting: 4}) ||
		len(started.Runs) != 4 {
		t.Fatalf("%+v", started)
	}
	run := c.running("reimage-1", 1)
	if run.Wave != 1 || run.From != 0 || run.Attempts != 1 || run.Begin.IsZero() || run.EntryMethod != "power" ||
		run.Labels["rack"] != "a" {
		t.Errorf("%+v", run)
	}
	c.notRecorded("reimage-1", 1, api.RunDone,
		"the binding of node n1 is not satisfied: it has generation 0; the node is not seen yet, generation 0")
	c.fulfil(1)
	answer := c.done("reimage-1", 1)
	var names []string
	for _, stage := range answer.Run.Stages {
		names = append(names, stage.Name)
	}
	if answer.Run.Generation != 1 || answer.Run.End.Before(answer.Run.Begin) ||
		strings.Join(names, " ") != "kernel wipe write configure start" ||
		answer.Rollout.Counts != (api.RolloutCount{Waiting: 3, Done: 1}) || answer.Rollout.Runs != nil {
		t.Errorf("%+v", answer)
	}
	c.notRecorded("reimage-1", 1, api.RunRunning, "node n1 is done in rollout reimage-1, and is not started again")
	c.notRecorded("reimage-1", 1, api.RunFailed, "node n1 is done in rollout reimage-1, and cannot be reported as failed")
	c.whole("reimage-1", 2)
	c.running("reimage-1", 3)
	if state := c.failed("reimage-1", 3).State; state != api.RolloutRunning {
		t.Errorf("within the budget: %s", state)
	}
	last := c.whole("reimage-1", 4).Rollout
	if last.State != api.RolloutDone || last.Ended.IsZero() || last.Counts != (api.RolloutCount{Done: 3, Failed: 1}) {
		t.Errorf("%+v", last)
	}
	c.refused(409, "POST", "/v1/rollouts/reimage-1/abort", nil, "rollout reimage-1 is done: there is nothing to abort")
	if again := c.start(spec); again.Name != "reimage-2" || again.Counts.Waiting != 4 {
		t.Errorf("after its end another one begins: %+v", again)
	}
	list, err := c.Client().Rollouts(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "reimage-2" || list[1].Counts != last.Counts ||
		list[1].Runs != nil {
		t.Errorf("%v %+v", err, list)
	}
}

func TestRolloutRefusals(t *testing.T) {
	c := newCrew(t, 2)
	post := func(change func(*api.RolloutSpec), want string) {
		t.Helper()
		spec := c.spec()
		change(&spec)
		c.refused(422, "POST", "/v1/rollouts", spec, want)
	}
	post(func(s *api.RolloutSpec) { s.Nodes = []string{"n1", "n9"} }, "node n9 is not declared")
	post(func(s *api.RolloutSpec) { s.Nodes = []string{"n1", address(1)} }, "node "+address(1)+" is named twice")
	post(func(s *api.RolloutSpec) { s.Nodes = nil }, "nodes")
	post(func(s *api.RolloutSpec) { s.Batch = "0%" }, `batch \"0%\": no node would ever be done`)
	post(func(s *api.RolloutSpec) { s.Canary = "101%" }, `canary \"101%\": want a count of nodes`)
	post(func(s *api.RolloutSpec) { s.Batch = "-1" }, "pattern")
	post(func(s *api.RolloutSpec) { s.MaxUnavailable = map[string]int{"rack": 0} }, `max_unavailable \"rack: 0\"`)
	c.refused(404, "GET", "/v1/rollouts/reimage-9", nil, "rollout reimage-9 does not exist")
	c.refused(404, "POST", "/v1/rollouts/reimage-9/abort", nil, "rollout reimage-9 does not exist")
	name := c.start(c.spec()).Name
	c.notRecorded(name, 0, api.RunRunning, "node n0 is not in rollout reimage-1")
	waiting := api.NodeRunItem{Node: "n1", NodeRunSpec: api.NodeRunSpec{State: api.RunWaiting}}
	c.refused(422, "PUT", "/v1/rollouts/"+name+"/runs", api.NodeRunItems{Items: []api.NodeRunItem{waiting}}, "state")
	if a := c.Ask("POST", "/v1/rollouts", "", "{}"); a.Status != 401 {
		t.Errorf("without a token: %d", a.Status)
	}
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
