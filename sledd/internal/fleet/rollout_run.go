// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// PutRun takes what whoever runs a rollout says of one node, and judges the rollout by it.
func (f *Fleet) PutRun(ctx context.Context, name, reference string, spec api.NodeRunSpec) (api.RunAnswer, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.RunAnswer{}, err
	}
	run, err := f.queuedRun(ctx, name, address, spec)
	if err != nil {
		return api.RunAnswer{}, err
	}
	// after the run is written, so that of several at the same time the last one sees all
	shown, err := f.settle(ctx, name)
	shown.Runs = nil
	return api.RunAnswer{Rollout: shown, Run: run}, err
}

// queuedRun is putRun when it is its turn.
func (f *Fleet) queuedRun(ctx context.Context, name, address string, spec api.NodeRunSpec) (api.NodeRun, error) {
	select {
	case f.runs <- struct{}{}:
		defer func() { <-f.runs }()
		return f.putRun(ctx, name, address, spec, anyway)
	case <-ctx.Done():
		return api.NodeRun{}, refuse(Busy, "too many nodes of rollouts are told of at once; try again")
	}
}

// runChange is one node of a rollout, what is said of it, and the node itself.
type runChange struct {
	*view
	rollout *storedRollout
	run     storedRun
	current api.NodeRun
	said    api.NodeRunSpec
}

func anyway(*runChange) error { return nil }

// raised refuses to end a run whose node did not get its wish by this rollout.
func raised(t *runChange) error {
	if t.wished() <= t.current.From {
		return refuse(Conflict, "node %s was not given its wish by rollout %s", t.current.Node, t.rollout.Name)
	}
	return nil
}

func (f *Fleet) putRun(ctx context.Context, name, address string, said api.NodeRunSpec, check func(*runChange) error) (api.NodeRun, error) {
	var run api.NodeRun
	err := retry(ctx, func(ctx context.Context) error {
		t, err := f.runChange(ctx, name, address, said)
		if err != nil {
			return err
		}
		if err := check(t); err != nil {
			return err
		}
		before := t.current.State
		if err := t.take(); err != nil {
			return err
		}
		run = t.current
		_, err = f.Store.Commit(ctx, t.transaction(before))
		return err
	})
	return run, err
}

// runChange reads all that is looked at, at one revision.
func (f *Fleet) runChange(ctx context.Context, name, address string, said api.NodeRunSpec) (*runChange, error) {
	queries := []store.Query{store.Key(key.Rollouts + name), store.Key(key.RunsOf(name) + address)}
	if said.State != api.RunRunning {
		history := store.Prefix(key.EventsOf(address))
		history.Limit, history.Descending = events.Most, true
		queries = append(queries, history, store.Key(key.Logs+address))
	}
	v, err := f.load(ctx, address, queries...)
	if err != nil {
		return nil, err
	}
	if len(v.extra[0]) == 0 {
		return nil, refuse(NotFound, "rollout %s does not exist", name)
	}
	t := &runChange{view: v, said: said}
	if t.rollout, err = readRollout(v.extra[0][0]); err != nil {
		return nil, err
	}
	if len(v.extra[1]) > 0 {
		if t.run, err = readRun(v.extra[1][0]); err != nil {
			return nil, err
		}
	}
	i := slices.Index(t.rollout.MACs, address)
	if i < 0 {
		return nil, refuse(NotFound, "node %s is not in rollout %s", v.called(address), name)
	}
	t.current = t.rollout.node(i, t.run)
	return t, nil
}

// take makes the run what is said of it, unless that cannot be.
func (t *runChange) take() error {
	if t.said.Way != "" {
		t.current.Way = t.said.Way
	}
	if t.node != nil {
		t.current.Labels = t.node.Labels
	}
	switch t.said.State {
	case api.RunRunning:
		return t.begin()
	case api.RunDone:
		if !t.satisfied() {
			return refuse(Conflict, "node %s has not done what is wished of it: generation %d is wished; it is %s, generation %d", t.current.Node, t.wished(),
				dash(t.status.Phase), t.status.Generation)
		}
		t.current.Reason, t.current.Log = "", ""
	case api.RunFailed:
		if strings.TrimSpace(t.said.Reason) == "" {
			return invalid("body.reason", t.said.Reason, errors.New("a node that failed has a reason"))
		}
		if t.current.State == api.RunDone {
			return refuse(Conflict, "node %s was done in rollout %s: it cannot have failed", t.current.Node, t.rollout.Name)
		}
		t.current.Reason = t.said.Reason
	case api.RunWaiting: // nobody can say that
	}
	if t.current.State == t.said.State {
		return nil // said again
	}
	return t.end()
}

// begin notes that the node is being worked on. A node that is done has its turn again only when something else is wished of it since.
func (t *runChange) begin() error {
	again := t.current.State == api.RunDone
	if again && t.wished() == t.current.Generation && t.satisfied() {
		return refuse(Conflict, "node %s was done in rollout %s: nothing is to be done again", t.current.Node, t.rollout.Name)
	}
	if t.current.State != api.RunRunning && t.rollout.State != api.RolloutRunning {
		return refuse(Conflict, "rollout %s is %s (%s): node %s is not begun", t.rollout.Name, t.rollout.State, t.rollout.Reason, t.current.Node)
	}
	if t.current.Attempts == 0 || again {
		t.current.From = t.wished()
	}
	if t.current.State != api.RunRunning || t.run.Resumption < t.rollout.Resumed {
		t.current.Attempts++
	}
	if t.current.State != api.RunRunning {
		t.current.Begin, t.current.End, t.current.Stages, t.current.Start, t.current.Generation = t.now, time.Time{}, nil, "", 0
		t.current.Reason, t.current.Log = "", ""
	}
	t.current.State = api.RunRunning
	return nil
}

// end notes how it went: the stages of the node's run, and for a failure the last that it logged.
func (t *runChange) end() error {
	history, err := readEvents(t.extra[2])
	if err != nil {
		return err
	}
	slices.Reverse(history)
	t.current.State, t.current.End, t.current.Generation = t.said.State, t.now, t.wished()
	if t.current.Begin.IsZero() {
		t.current.Begin = t.now
	}
	t.current.Stages, t.current.Log = nil, ""
	for _, stage := range events.Timeline(history, t.now).Stages {
		if stage.Begin.Add(time.Duration(stage.Seconds * float64(time.Second))).After(t.current.Begin) { // else of an earlier run
			t.current.Stages = append(t.current.Stages, stage)
		}
	}
	if t.status.Generation == t.wished() {
		t.current.Start = t.status.Start
	}
	logged := func(e api.Event) bool {
		return !e.Time.Before(t.current.Begin) && slices.Contains([]string{"log", "lastwords", "fallback", "lost"}, e.Kind)
	}
	if t.said.State == api.RunFailed && slices.ContainsFunc(history, logged) && len(t.extra[3]) > 0 {
		t.current.Log = rollout.Tail(string(t.extra[3][0].Value))
	}
	return nil
}

// transaction writes the run, if all that it was decided by is still so.
func (t *runChange) transaction(before api.RunState) store.Transaction {
	name := t.rollout.Name
	var change store.Transaction
	change.Unchanged(key.Rollouts+name, t.rollout.revision)
	change.Unchanged(key.RunsOf(name)+t.mac, t.run.revision)
	if before != t.current.State {
		change.Unchanged(key.Bindings+t.mac, t.read[iBinding].Revision)
	}
	if t.current.State == api.RunDone {
		change.Unchanged(key.Status+t.mac, t.read[iStatus].Revision)
	}
	change.Put(key.RunsOf(name)+t.mac, encode(storedRun{NodeRun: t.current, Resumption: t.rollout.Resumed, Seen: t.now}))
	return change
}
