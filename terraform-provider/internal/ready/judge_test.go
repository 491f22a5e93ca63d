// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// bound is a node with a binding of a generation, and its observed status.
func bound(generation int64, satisfied bool, status api.Status) *api.Node {
	return &api.Node{NodeSpec: api.NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1"}, Status: status,
		Binding: &api.Binding{Generation: generation, Satisfied: satisfied}}
}

// claimed is a node with claims that wait for a person.
func claimed(node *api.Node, codes ...string) *api.Node {
	node.WaitingClaims = codes
	return node
}

func TestJudge(t *testing.T) {
	stopped := api.Status{Phase: api.Failed, Generation: 2, Verb: "write", Code: 6,
		Reason: api.Clean("no server answers")}
	for name, c := range map[string]struct {
		node    *api.Node
		verdict verdict
	}{
		"unknown node": {nil, verdict{failed, 0, "sledd does not know this node", "unknown"}},
		"discovered": {&api.Node{Status: api.Status{Phase: api.Discovered}},
			verdict{failed, 0, "it has no binding any more (generation 2 is required)", "unbound"}},
		"unbound, runs": {&api.Node{Status: api.Status{Phase: api.Operational, Generation: 2}},
			verdict{failed, 0, "it has no binding any more (generation 2 is required)", "unbound"}},
		"never bound": {bound(1, true, api.Status{Phase: api.Operational, Generation: 1}),
			verdict{failed, 0, "generation 2 is required, but its binding has generation 1", "outdated"}},
		"ready": {bound(2, true, api.Status{Phase: api.Operational, Generation: 2}),
			verdict{ready, 2, "", "ready"}},
		"wiped as asked": {bound(2, true, api.Status{Phase: api.Wiped, Generation: 2}),
			verdict{ready, 2, "", "ready"}},
		"rescued, and done": {bound(2, true, api.Status{Phase: api.UnderRescue, Before: api.Operational,
			Generation: 2}),
			verdict{ready, 2, "", "ready"}},
		"never seen": {bound(2, false, api.Status{}),
			verdict{pending, 0, "never seen (generation 0, requested 2)", "never seen"}},
		"older runs": {bound(2, false, api.Status{Phase: api.Operational, Generation: 1}),
			verdict{pending, 0, "operational (generation 1, requested 2)", "operational"}},
		"at work": {bound(2, false, api.Status{Phase: api.Writing, Generation: 2}),
			verdict{pending, 0, "writing", "writing"}},
		"failed": {bound(2, false, stopped), verdict{failed, 0,
			"step write: no server answers (exit code 6)", "failed"}},
		"failed, mute": {bound(2, false, api.Status{Phase: api.Failed, Generation: 2}),
			verdict{failed, 0, "no reason was reported", "failed"}},
		"older failed": {bound(2, false, api.Status{Phase: api.Failed, Generation: 1, Reason: api.Clean("x")}),
			verdict{pending, 0, "failed (generation 1, requested 2)", "failed"}},
		"newer binding": {bound(3, false, api.Status{Phase: api.Operational, Generation: 2}),
			verdict{pending, 0, "operational (generation 2, requested 3)", "operational"}},
		"newer failed": {bound(3, false, api.Status{Phase: api.Failed, Generation: 3, Reason: api.Clean("x")}),
			verdict{failed, 0, "x", "failed"}},
		"newer ready": {bound(3, true, api.Status{Phase: api.Operational, Generation: 3}),
			verdict{ready, 3, "", "ready"}},
		"failed, bound again": {bound(3, false, stopped), verdict{pending, 0, "failed (generation 2, requested 3)",
			"failed"}},
	} {
		if got := judge(c.node, 2); got != c.verdict {
			t.Errorf("%s: got %+v, want %+v", name, got, c.verdict)
		}
	}
}

// withheld is a node that waits for a secret.
func withheld(node *api.Node) *api.Node {
	node.Wait = &api.Wait{Kind: api.WaitsForRival, For: "a rival (rival_time)", EndsBy: "sledctl admit n1 CODE"}
	return node
}

func TestJudgeOfWhatIsNotAdmitted(t *testing.T) {
	for name, c := range map[string]struct {
		node    *api.Node
		verdict verdict
	}{
		"not admitted": {claimed(bound(2, false, api.Status{}), "K7QF-2M9D"), verdict{failed, 0,
			"a machine waits to be admitted as this node; type the code that its console shows: sledctl admit n1 CODE",
			"not admitted"}},
		"withheld": {withheld(bound(2, false, api.Status{Phase: api.Configuring, Generation: 2})), verdict{pending, 0,
			"configuring, waits for a rival (rival_time); `sledctl admit n1 CODE` ends it", "configuring"}},
		"ready, and claimed": {claimed(bound(2, true, api.Status{Phase: api.Operational, Generation: 2}), "AAAA-0001"),
			verdict{ready, 2, "", "ready"}},
	} {
		if got := judge(c.node, 2); got != c.verdict {
			t.Errorf("%s: got %+v, want %+v", name, got, c.verdict)
		}
	}
}

func TestWhenWaitingEnds(t *testing.T) {
	states := map[byte]*api.Node{
		'r': bound(1, true, api.Status{Phase: api.Operational, Generation: 1}),
		'f': bound(1, false, api.Status{Phase: api.Failed, Generation: 1, Reason: api.Clean("x")}),
		'p': bound(1, false, api.Status{Phase: api.Writing, Generation: 1}),
	}
	for _, c := range []struct {
		nodes         string
		need          int
		failFast      bool
		met, hopeless bool
	}{
		{"rrr", 3, true, true, true}, {"rrp", 3, true, false, false}, {"rrp", 2, true, true, false},
		{"rfp", 3, true, false, true},
		{"rfp", 3, false, false, false}, {"rfp", 2, true, false, false}, {"rff", 2, false, false, true},
		{"ffp", 2, true, false, true}, {"", 0, true, true, true},
	} {
		w, found := goal{nodes: map[string]int64{}, need: c.need, failFast: c.failFast}, map[string]*api.Node{}
		for i := range c.nodes {
			name := fmt.Sprintf("n%d", i)
			w.nodes[name], found[name] = 1, states[c.nodes[i]]
		}
		t1 := w.count(found)
		if w.met(t1) != c.met || w.hopeless(t1) != c.hopeless {
			t.Errorf("%+v: met %v, hopeless %v", c, w.met(t1), w.hopeless(t1))
		}
	}
}

func TestErrorNamesTheFirstNodes(t *testing.T) {
	w := goal{nodes: map[string]int64{}, need: 30}
	found := map[string]*api.Node{}
	for i := range 30 {
		name := fmt.Sprintf("n%02d", i)
		w.nodes[name], found[name] = 1, bound(1, false, api.Status{Phase: api.Writing, Generation: 1})
	}
	found["n27"].Status = api.Status{Phase: api.Failed, Generation: 1, Verb: "wipe", Code: 4,
		Reason: api.Clean("no disk matches")}
	found["n28"].Binding.Satisfied = true
	text := ending{w, w.count(found), 0}.explain(errHopeless)[0].Detail()
	for _, want := range []string{"1 of 30 nodes are ready, 30 are required: 1 failed, 1 ready, 28 writing.\n\n  " +
		"n27: failed: step wipe: no disk matches (exit code 4)\n",
		"  n00: writing\n", "  n18: writing\n  and 9 more\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestEnoughIsAWarningWhenSomeAreLeft(t *testing.T) {
	w := goal{nodes: map[string]int64{"n1": 1, "n2": 1}, need: 1}
	found := map[string]*api.Node{"n1": bound(1, true, api.Status{Phase: api.Operational, Generation: 1}),
		"n2": bound(1, false, api.Status{})}
	said := ending{w, w.count(found), 0}.explain(nil)
	if len(said) != 1 || said.HasError() || said[0].Summary() != "1 of 2 nodes are ready, which is enough" ||
		!strings.Contains(said[0].Detail(), "  n2: never seen") {
		t.Errorf("%v", said)
	}
	found["n2"] = found["n1"]
	if said := (ending{w, w.count(found), 0}).explain(nil); len(said) != 0 {
		t.Errorf("all are ready: %v", said)
	}
}
