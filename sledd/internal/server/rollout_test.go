// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
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

func (c crew) put(name string, i int, spec api.NodeRunSpec) api.RunAnswer {
	c.Helper()
	answer, err := c.Client().PutRun(c.Context(), name, fmt.Sprintf("n%d", i), spec)
	if err != nil {
		c.Fatal(err)
	}
	return answer
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

func (c crew) done(name string, i int) api.RunAnswer {
	c.Helper()
	return c.put(name, i, api.NodeRunSpec{State: api.RunDone})
}

func (c crew) whole(name string, i int) api.RunAnswer {
	c.Helper()
	c.running(name, i)
	c.fulfil(i)
	return c.done(name, i)
}

func (c crew) rollout(name string) api.Rollout {
	c.Helper()
	one, err := c.Client().Rollout(c.Context(), name)
	if err != nil {
		c.Fatal(err)
	}
	return one
}

func (c crew) put409(name string, i int, state api.RunState, want string) {
	c.Helper()
	c.refused(409, "PUT", fmt.Sprintf("/v1/rollouts/%s/runs/n%d", name, i),
		api.NodeRunSpec{State: state, Reason: "r"}, want)
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
	c.put409("reimage-1", 1, api.RunDone,
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
	c.put409("reimage-1", 1, api.RunRunning, "node n1 is done in rollout reimage-1, and is not started again")
	c.put409("reimage-1", 1, api.RunFailed, "node n1 is done in rollout reimage-1, and cannot be reported as failed")
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

func TestRolloutStopsWhenTheCanaryFails(t *testing.T) {
	c := newCrew(t, 8)
	spec := c.spec()
	spec.Canary, spec.FailureBudget = "1", "100%"
	name := c.start(spec).Name
	c.running(name, 1)
	c.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := c.Machine(1)
	m.Fail(5, "chunk 7 is not as signed")
	m.Say("log?step=1", strings.Repeat("old\n", 100)+"chunk 7: bad hash\n--- dmesg\nthe kernel's\n")
	stopped := c.failed(name, 1)
	if stopped.State != api.RolloutStopped || stopped.Reason.String() != "canary n1 failed: write: code 5 integrity" {
		t.Errorf("%+v", stopped)
	}
	run := c.rollout(name).Runs[0]
	if !strings.HasSuffix(run.Log.String(), "old\nchunk 7: bad hash") || strings.Count(run.Log.String(),
		"\n") != 19 || run.Reason.IsZero() ||
		run.Generation != 1 {
		t.Errorf("%+v", run)
	}
	c.put409(name, 2, api.RunRunning, "rollout "+name+
		" is stopped (canary n1 failed: write: code 5 integrity): node n2 is not started")
	if counts := c.rollout(name).Counts; counts != (api.RolloutCount{Waiting: 7, Failed: 1}) {
		t.Errorf("something else was touched: %+v", counts)
	}
}

func TestRolloutStopsBeyondTheBudget(t *testing.T) {
	c := newCrew(t, 8)
	spec := c.spec()
	spec.FailureBudget = "25%"
	name := c.start(spec).Name
	for i := 1; i <= 4; i++ {
		c.running(name, i)
	}
	c.failed(name, 1)
	if still := c.failed(name, 2); still.State != api.RolloutRunning {
		t.Errorf("%+v", still)
	}
	stopped := c.failed(name, 3)
	if stopped.State != api.RolloutStopped || stopped.Reason.String() != "3 of 8 nodes failed, 2 (25%) allowed" {
		t.Errorf("%+v", stopped)
	}
	c.running(name, 4) // it runs already
	c.fulfil(4)
	if ended := c.done(name, 4); ended.Rollout.State != api.RolloutStopped || ended.Run.State != api.RunDone {
		t.Errorf("%+v", ended)
	}
}

func TestRolloutResumes(t *testing.T) {
	c := newCrew(t, 4)
	name := c.start(c.spec()).Name
	c.whole(name, 1)
	c.running(name, 2)
	c.fulfil(2) // and whoever runs it dies before it says so
	c.running(name, 3)
	c.Bind(api.BindingSpec{Node: "n3", Image: "d12"})
	c.running(name, 4)
	c.failed(name, 4)
	if state := c.rollout(name).State; state != api.RolloutStopped {
		t.Fatalf("%s", state)
	}
	spec := c.spec()
	spec.Nodes = []string{"n3", "n4"}
	again := c.start(spec)
	if again.Name != name || again.Resumed != 1 || again.State != api.RolloutRunning || !again.Reason.IsZero() ||
		again.Counts != (api.RolloutCount{Done: 2, Running: 1, Waiting: 1}) || len(again.Runs) != 4 {
		t.Fatalf("%+v", again)
	}
	if run := again.Runs[3]; run.State != api.RunWaiting || !run.Reason.IsZero() || run.Attempts != 1 {
		t.Errorf("%+v", run)
	}
	run := c.running(name, 3)
	if run.From != 0 || run.Attempts != 2 || c.Node(3).Binding.Generation != 1 {
		t.Errorf("n3 was bound by this rollout, once: %+v", run)
	}
	c.Machine(3).Fulfil()
	c.done(name, 3)
	if end := c.whole(name, 4).Rollout; end.State != api.RolloutDone || end.Counts.Done != 4 {
		t.Errorf("%+v", end)
	}
}

// A node that whoever resumes leaves out, and that this rollout gave nothing, may just not be meant this time.
func TestRolloutResumedForSomeNodes(t *testing.T) {
	c := newCrew(t, 2)
	c.fulfil(2) // with something older
	name := c.start(c.spec()).Name
	c.running(name, 2)
	c.failed(name, 2)
	spec := c.spec()
	spec.Nodes = spec.Nodes[:1]
	if again := c.start(spec); again.Name != name || again.Counts != (api.RolloutCount{Waiting: 2}) ||
		again.Runs[1].From != 1 {
		t.Errorf("%+v", again)
	}
	c.running(name, 2)
	c.whole(name, 1)
	c.fulfil(2)
	c.done(name, 2)
	// it has ended: a request to image again starts another one
	spec.Again = true
	if other := c.start(spec); other.Name == name {
		t.Errorf("an ended one was resumed: %+v", other)
	}
}

func TestRolloutsInTheWay(t *testing.T) {
	c := newCrew(t, 4)
	first := c.spec()
	first.Nodes = []string{"n1", "n2"}
	name := c.start(first).Name
	other := c.spec()
	other.Nodes, other.Desired = []string{"n2", "n3"}, "image d13"
	c.refused(409, "POST", "/v1/rollouts", other,
		"rollout reimage-1 (image d12) runs and has some of these nodes: wait for it, or sledctl rollout abort reimage-1")
	apart := other
	apart.Nodes = []string{"n3", "n4"}
	wipe, err := c.Client().StartRollout(t.Context(), "wipe", apart)
	if err != nil || wipe.Name != "wipe-2" {
		t.Errorf("%v %+v", err, wipe)
	}
	c.running(name, 1)
	c.failed(name, 1)
	other.Nodes = []string{"n2"}
	next := c.start(other)
	old := c.rollout(name)
	if next.Name != "reimage-3" || old.State != api.RolloutAborted || old.Ended.IsZero() ||
		old.Reason.String() != "replaced by reimage-3; stopped before: 1 of 2 nodes failed, 0 allowed" ||
		old.Counts != (api.RolloutCount{Failed: 1, Waiting: 1}) {
		t.Errorf("%+v\n%+v", next, old)
	}
	if apart := c.rollout("wipe-2"); apart.State != api.RolloutRunning {
		t.Errorf("%+v", apart)
	}
	c.put409(name, 2, api.RunRunning, "rollout reimage-1 is aborted (replaced by reimage-3")
}

func TestRolloutAborted(t *testing.T) {
	c := newCrew(t, 2)
	name := c.start(c.spec()).Name
	c.running(name, 1)
	for range 2 {
		aborted, err := c.Client().AbortRollout(t.Context(), name)
		if err != nil || aborted.State != api.RolloutAborted || aborted.Reason.String() != "aborted by admin" ||
			aborted.Counts.Running != 1 {
			t.Errorf("%v %+v", err, aborted)
		}
	}
	c.fulfil(1) // it goes on, and what becomes of it is still heard
	c.done(name, 1)
	if list, err := c.Client().Rollouts(t.Context()); err != nil ||
		list[0].Counts != (api.RolloutCount{Done: 1, Waiting: 1}) {
		t.Errorf("%v %+v", err, list)
	}
	if next := c.start(c.spec()); next.Name != "reimage-2" {
		t.Errorf("%+v", next)
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
	run := "/v1/rollouts/" + name + "/runs/"
	c.refused(404, "PUT", run+"n0", api.NodeRunSpec{State: api.RunRunning}, "node n0 is not in rollout reimage-1")
	c.refused(404, "PUT", "/v1/rollouts/reimage-9/runs/n1", api.NodeRunSpec{State: api.RunRunning},
		"rollout reimage-9 does not exist")
	c.refused(422, "PUT", run+"n1", api.NodeRunSpec{State: api.RunFailed, Reason: " "},
		"a node that failed has a reason")
	c.refused(422, "PUT", run+"n1", api.NodeRunSpec{State: api.RunWaiting}, "state")
	if a := c.Ask("POST", "/v1/rollouts", "", "{}"); a.Status != 401 {
		t.Errorf("without a token: %d", a.Status)
	}
}
