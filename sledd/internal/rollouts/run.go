// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
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

// PutRun records the report on one node of a rollout, and evaluates the rollout by it.
func (rs *Rollouts) PutRun(ctx context.Context, name, reference string, spec api.NodeRunSpec) (api.RunAnswer, error) {
	address, err := rs.Resolve(ctx, reference)
	if err != nil {
		return api.RunAnswer{}, err
	}
	run, err := rs.queuedRun(ctx, name, address, spec)
	if err != nil {
		return api.RunAnswer{}, err
	}
	// after the run is written, so that of several at the same time the last one sees all
	shown, err := rs.evaluate(ctx, name)
	shown.Runs = nil
	return api.RunAnswer{Rollout: shown, Run: run}, err
}

// queuedRun is putRun when it is its turn.
func (rs *Rollouts) queuedRun(ctx context.Context, name, address string, spec api.NodeRunSpec) (api.NodeRun, error) {
	select {
	case rs.runs <- struct{}{}:
		defer func() { <-rs.runs }()
		return rs.putRun(ctx, name, address, spec, unconditionally)
	case <-ctx.Done():
		return api.NodeRun{}, refusal.New(refusal.Busy, "too many nodes of rollouts are reported at once; try again")
	}
}

// runChange is one node of a rollout, the request, and the node itself.
type runChange struct {
	*nodetx.Tx
	rollout *storedRollout
	run     storedRun
	current api.NodeRun
	request api.NodeRunSpec

	runRevision int64
}

func unconditionally(*runChange) error { return nil }

// generationRaised refuses to end a run whose binding this rollout did not change.
func generationRaised(t *runChange) error {
	if t.Generation() <= t.current.From {
		return refusal.New(refusal.Conflict, "node %s was not bound by rollout %s", t.current.Node, t.rollout.Name)
	}
	return nil
}

func (rs *Rollouts) putRun(ctx context.Context, name, address string, request api.NodeRunSpec,
	check func(*runChange) error) (api.NodeRun, error) {
	var run api.NodeRun
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		t, err := rs.runChange(ctx, name, address, request)
		if err != nil {
			return err
		}
		if err := check(t); err != nil {
			return err
		}
		before := t.current.State
		if err := t.applyRequest(); err != nil {
			return err
		}
		run = t.current
		_, err = rs.Store.Commit(ctx, t.transaction(before))
		return err
	})
	return run, err
}

// runChange reads all that is checked, at one revision.
func (rs *Rollouts) runChange(ctx context.Context, name, address string, request api.NodeRunSpec) (*runChange, error) {
	var stored nodetx.Slot[storedRollout]
	var run nodetx.Slot[storedRun]
	wants := []nodetx.Want{nodetx.Into(key.Rollouts+name, &stored), nodetx.Into(key.RunsOf(name)+address, &run)}
	if request.State != api.RunRunning {
		wants = append(wants, nodetx.Events(events.Most), nodetx.Log)
	}
	tx, err := rs.Load(ctx, address, wants...)
	if err != nil {
		return nil, err
	}
	t := &runChange{Tx: tx, request: request, rollout: stored.Get(), runRevision: run.Revision()}
	if t.rollout == nil {
		return nil, refusal.New(refusal.NotFound, "rollout %s does not exist", name)
	}
	t.rollout.revision = stored.Revision()
	if run.Get() != nil {
		t.run = *run.Get()
	}
	i := slices.Index(t.rollout.MACs, address)
	if i < 0 {
		return nil, refusal.New(refusal.NotFound, "node %s is not in rollout %s", tx.NameOr(address), name)
	}
	t.current = t.rollout.node(i, t.run)
	return t, nil
}

// applyRequest brings the run to the requested state, or refuses it.
func (t *runChange) applyRequest() error {
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

// transaction writes the run, if all that it was decided by is still so.
func (t *runChange) transaction(before api.RunState) store.Transaction {
	name := t.rollout.Name
	var change store.Transaction
	change.Unchanged(key.Rollouts+name, t.rollout.revision)
	change.Unchanged(key.RunsOf(name)+t.MAC, t.runRevision)
	if before != t.current.State {
		change.Unchanged(key.Bindings+t.MAC, t.RevisionOf(nodetx.BindingOf))
	}
	if t.current.State == api.RunDone {
		change.Unchanged(key.Status+t.MAC, t.RevisionOf(nodetx.Status))
	}
	change.Put(key.RunsOf(name)+t.MAC,
		nodetx.Encode(storedRun{NodeRun: t.current, Resumption: t.rollout.Resumed, Seen: t.Now}))
	return change
}
