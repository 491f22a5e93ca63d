// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// storedRollout is a rollout as stored. Its nodes, their MACs and waves are lists of one length;
// the run of each node has a separate key, once it was started. Counts are those at its end.
type storedRollout struct {
	api.Rollout
	MACs   []string `json:"macs"`
	WaveOf []int    `json:"wave_of"`

	revision int64
	places   map[string]int // in the lists, by MAC
}

// storedRun is one node of a rollout as stored. A failure of an earlier resumption no longer
// counts: the node waits again.
type storedRun struct {
	api.NodeRun
	Resumption int       `json:"resumption"` // of the rollout, when it was written
	Seen       time.Time `json:"seen"`

	revision int64
}

func readRollout(kv store.KV) (*storedRollout, error) {
	r := &storedRollout{revision: kv.Revision, places: map[string]int{}}
	err := nodetx.Decode(kv, r)
	for i, address := range r.MACs {
		r.places[address] = i
	}
	return r, err
}

func readRun(kv store.KV) (storedRun, error) {
	run := storedRun{revision: kv.Revision}
	return run, nodetx.Decode(kv, &run)
}

func (r *storedRollout) unfinished() bool {
	return r.State == api.RolloutRunning || r.State == api.RolloutStopped
}

// one is what others are compared with.
func (r *storedRollout) one() rollout.Identity {
	return rollout.Identity{Kind: r.Kind, Spec: r.RolloutSpec, MACs: r.MACs}
}

// node is a node as it stands now.
func (r *storedRollout) node(i int, stored storedRun) api.NodeRun {
	run := stored.NodeRun
	if run.State == "" {
		run.State = api.RunWaiting
	}
	if run.State == api.RunFailed && stored.Resumption < r.Resumed {
		run = api.NodeRun{State: api.RunWaiting, Labels: run.Labels, From: run.From, Attempts: run.Attempts,
			Begin: run.Begin}
	}
	run.Node, run.MAC, run.Wave = r.Nodes[i], r.MACs[i], r.WaveOf[i]
	return run
}

// with returns the rollout with its nodes.
func (r *storedRollout) with(stored map[string]storedRun) api.Rollout {
	shown := r.Rollout
	shown.Waves = make([][]string, slices.Max(r.WaveOf))
	shown.Runs = make([]api.NodeRun, len(r.MACs))
	for i, address := range r.MACs {
		shown.Waves[r.WaveOf[i]-1] = append(shown.Waves[r.WaveOf[i]-1], r.Nodes[i])
		shown.Runs[i] = r.node(i, stored[address])
		if seen := stored[address].Seen; seen.After(shown.Seen) {
			shown.Seen = seen
		}
	}
	shown.Counts = rollout.Count(shown.Runs)
	return shown
}

// judge sets the state of the rollout by the states of its nodes, and reports whether it changed.
func (r *storedRollout) judge(now api.Rollout) (bool, error) {
	state, reason, err := rollout.Judge(r.State, r.RolloutSpec, now.Runs)
	if err != nil {
		return false, err
	}
	changed := state != r.State
	if changed {
		r.State, r.Reason = state, reason
		if state == api.RolloutDone {
			r.Ended = now.Seen
		}
	}
	if !r.unfinished() && r.Counts != now.Counts {
		r.Counts, r.Seen, changed = now.Counts, now.Seen, true
	}
	return changed, nil
}

// rollout reads one with its runs, at one revision.
func (rs *Rollouts) rollout(ctx context.Context, name string) (*storedRollout, map[string]storedRun, error) {
	snapshot, err := rs.Store.Read(ctx, store.Key(key.Rollouts+name), store.Prefix(key.RunsOf(name)))
	if err != nil {
		return nil, nil, err
	}
	kv, found := snapshot.One(0)
	if !found {
		return nil, nil, refusal.New(refusal.NotFound, "rollout %s does not exist", name)
	}
	r, err := rs.decoded.readRollout(kv)
	if err != nil {
		return nil, nil, err
	}
	runs, err := rs.decoded.readRuns(snapshot.Results[1])
	if err != nil {
		return nil, nil, err
	}
	if seen := runs[""].Seen; seen.After(r.Seen) { // the record of the runner is no run
		r.Seen = seen
	}
	delete(runs, "")
	return r, runs, nil
}

// Get returns one rollout with its nodes.
func (rs *Rollouts) Get(ctx context.Context, name string) (api.Rollout, error) {
	r, runs, err := rs.rollout(ctx, name)
	if err != nil {
		return api.Rollout{}, err
	}
	return rs.show(r, runs), nil
}

// List returns all rollouts without their nodes, newest first.
func (rs *Rollouts) List(ctx context.Context) (api.RolloutList, error) {
	list := api.RolloutList{Items: []api.Rollout{}}
	snapshot, err := rs.Store.Read(ctx, store.Prefix(key.Rollouts))
	if err != nil {
		return list, err
	}
	for _, kv := range snapshot.Results[0] {
		r, err := readRollout(kv)
		if err != nil {
			return list, err
		}
		var runs map[string]storedRun
		if r.unfinished() {
			if r, runs, err = rs.rollout(ctx, strings.TrimPrefix(kv.Key, key.Rollouts)); err != nil {
				return list, err
			}
		}
		shown := rs.show(r, runs)
		shown.Runs = nil
		if runs == nil {
			shown.Counts = r.Counts
		}
		list.Items = append(list.Items, shown)
	}
	slices.SortFunc(list.Items, func(a, b api.Rollout) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(numberOf(b.Name), numberOf(a.Name)))
	})
	return list, nil
}

// Abort ends a rollout for good, and adds that to the events of its unfinished nodes. None of its nodes is started any
// more; running nodes are not interrupted.
func (rs *Rollouts) Abort(ctx context.Context, name, by string) (api.Rollout, error) {
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		r, runs, err := rs.rollout(ctx, name)
		switch {
		case err != nil:
			return err
		case r.State == api.RolloutAborted:
			return nil
		case !r.unfinished():
			return refusal.New(refusal.Conflict, "rollout %s is %s: there is nothing to abort", name, r.State)
		}
		r.abort(rs.Now(), "aborted by "+by)
		if err := rs.keep(ctx, r); err != nil {
			return err
		}
		return rs.addAborts(ctx, r.with(runs))
	})
	if err != nil {
		return api.Rollout{}, err
	}
	return rs.evaluate(ctx, name)
}

// addAborts adds events to the nodes of an aborted rollout that wait or run.
func (rs *Rollouts) addAborts(ctx context.Context, r api.Rollout) error {
	sender := origin.Of(ctx)
	runs := slices.DeleteFunc(r.Runs, func(run api.NodeRun) bool {
		return run.State != api.RunWaiting && run.State != api.RunRunning
	})
	for some := range slices.Chunk(runs, store.MaxOperations) {
		var t store.Transaction
		for _, run := range some {
			t.Put(key.Event(run.MAC, r.Ended.UnixNano()), nodetx.Encode(api.Event{Kind: "abort", MAC: run.MAC,
				Name: run.Node, Time: r.Ended, Detail: api.Clean(r.Name + ", in which it is " + string(run.State)),
				Actor: sender.Actor, Via: sender.Via, From: sender.From()}))
		}
		if _, err := rs.Store.Commit(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// abort notes the end of a rollout; why it was stopped before is kept.
func (r *storedRollout) abort(now time.Time, reason string) {
	if !r.Reason.IsZero() {
		reason += "; stopped before: " + r.Reason.String()
	}
	r.State, r.Reason, r.Ended = api.RolloutAborted, nodetext.Clean(reason), now
}
