// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// runChange is one node of a rollout, the request, and the node itself.
type runChange struct {
	*nodetx.Tx
	rollout *storedRollout
	run     storedRun
	current api.NodeRun
	request api.NodeRunSpec

	runRevision int64
}

// change is a request on a node, before it is decided.
func (r *storedRollout) change(tx *nodetx.Tx, request api.NodeRunSpec,
	run *nodetx.Slot[storedRun]) (*runChange, error) {
	i, found := r.places[tx.MAC]
	if !found {
		return nil, refusal.New(refusal.NotFound, "node %s is not in rollout %s", tx.NameOr(tx.MAC), r.Name)
	}
	t := &runChange{Tx: tx, request: request, rollout: r, runRevision: run.Revision()}
	if run.Get() != nil {
		t.run = *run.Get()
	}
	t.current = r.node(i, t.run)
	return t, nil
}

// apply brings the run to the requested state, or refuses it; bound: also if the rollout has not bound the node.
func (t *runChange) apply(bound bool) error {
	if bound && t.Generation() <= t.current.From {
		return refusal.New(refusal.Conflict, "node %s was not bound by rollout %s", t.current.Node, t.rollout.Name)
	}
	if t.request.EntryMethod != "" {
		t.current.EntryMethod = t.request.EntryMethod
	}
	if t.Node() != nil {
		t.current.Labels = t.Node().Labels
	}
	switch t.request.State {
	case api.RunRunning:
		return t.begin()
	case api.RunDone:
		if !t.Satisfied() {
			return refusal.New(refusal.Conflict,
				"the binding of node %s is not satisfied: it has generation %d; the node is %s, generation %d",
				t.current.Node, t.Generation(), nodetx.PhaseText(t.Status().Phase), t.Status().Generation)
		}
		t.current.Reason, t.current.Log = api.Prose{}, api.Raw{}
	case api.RunFailed:
		if strings.TrimSpace(t.request.Reason) == "" {
			return refusal.Value("body.reason", t.request.Reason, errors.New("a node that failed has a reason"))
		}
		if t.current.State == api.RunDone {
			return refusal.New(refusal.Conflict, "node %s is done in rollout %s, and cannot be reported as failed",
				t.current.Node, t.rollout.Name)
		}
		t.current.Reason = nodetext.Clean(t.request.Reason)
	case api.RunWaiting: // nobody can say that
	}
	if t.current.State == t.request.State {
		return nil // reported again
	}
	return t.end()
}

// begin records that work on the node has started. A node that is done starts again only when its
// binding has changed since.
func (t *runChange) begin() error {
	again := t.current.State == api.RunDone
	if again && t.Generation() == t.current.Generation && t.Satisfied() {
		return refusal.New(refusal.Conflict, "node %s is done in rollout %s, and is not started again",
			t.current.Node, t.rollout.Name)
	}
	if t.current.State != api.RunRunning && t.rollout.State != api.RolloutRunning {
		return refusal.New(refusal.Conflict, "rollout %s is %s (%s): node %s is not started", t.rollout.Name,
			t.rollout.State,
			t.rollout.Reason, t.current.Node)
	}
	if t.current.Attempts == 0 || again {
		t.current.From = t.Generation()
	}
	if t.current.State != api.RunRunning || t.run.Resumption < t.rollout.Resumed {
		t.current.Attempts++
	}
	if t.current.State != api.RunRunning {
		t.current.Begin, t.current.End = t.Now, time.Time{}
		t.current.Stages, t.current.Start, t.current.Generation = nil, "", 0
		t.current.Reason, t.current.Log = api.Prose{}, api.Raw{}
	}
	t.current.State = api.RunRunning
	return nil
}

// end notes how it went: the stages of the node's run, and for a failure the last that it logged.
func (t *runChange) end() error {
	history := slices.Clone(t.Events())
	slices.Reverse(history)
	t.current.State, t.current.End, t.current.Generation = t.request.State, t.Now, t.Generation()
	if t.current.Begin.IsZero() {
		t.current.Begin = t.Now
	}
	t.current.Stages, t.current.Log = nil, api.Raw{}
	for _, stage := range events.Timeline(history, t.Now).Stages {
		ended := stage.Begin.Add(time.Duration(stage.Seconds * float64(time.Second)))
		if ended.After(t.current.Begin) { // else it belongs to an earlier run
			t.current.Stages = append(t.current.Stages, stage)
		}
	}
	if t.Status().Generation == t.Generation() {
		t.current.Start = t.Status().Start
	}
	logged := func(e api.Event) bool {
		return !e.Time.Before(t.current.Begin) && slices.Contains([]string{"log", "lastwords", "fallback", "lost"},
			e.Kind)
	}
	if t.request.State == api.RunFailed && slices.ContainsFunc(history, logged) && t.Tx.Log() != nil {
		t.current.Log = rollout.Tail(nodetext.RawOf(*t.Tx.Log()))
	}
	return nil
}

// write adds the run to a transaction, if all that it was decided by is still so.
func (t *runChange) write(change *store.Transaction, before api.RunState) {
	name := t.rollout.Name
	if len(change.If) == 0 { // the same for all of a transaction
		change.Unchanged(key.Rollouts+name, t.rollout.revision)
	}
	change.Unchanged(key.RunsOf(name)+t.MAC, t.runRevision)
	if before != t.current.State {
		change.Unchanged(key.Bindings+t.MAC, t.RevisionOf(nodetx.BindingOf))
	}
	if t.current.State == api.RunDone {
		change.Unchanged(key.Status+t.MAC, t.RevisionOf(nodetx.Status))
	}
	change.Put(key.RunsOf(name)+t.MAC,
		nodetx.Encode(storedRun{NodeRun: t.current, Resumption: t.rollout.Resumed, Seen: t.Now}))
}
