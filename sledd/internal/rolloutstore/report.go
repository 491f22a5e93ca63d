// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"context"
	"slices"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// together is how many reports are recorded in one transaction: each reads up to six records, and all share two.
const together = (store.MaxOperations - 2) / 6

// report is a request on one node of a rollout, and what became of it.
type report struct {
	address string // MAC of the node
	request api.NodeRunSpec
	bound   bool // it is refused if the rollout has not bound the node
	run     api.NodeRun
	err     error // why it was refused, or which record cannot be read
}

// putReports records reports, each of another node.
func (rs *Rollouts) putReports(ctx context.Context, name string, reports []*report) error {
	var running sync.WaitGroup
	failed := make([]error, len(reports))
	for at := 0; at < len(reports); at += together {
		some := reports[at:min(at+together, len(reports))]
		running.Go(func() { failed[at] = rs.putTogether(ctx, name, some) })
	}
	running.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// putTogether records reports, each of another node, in one transaction when it is their turn. One that is refused
// keeps no other from being recorded.
func (rs *Rollouts) putTogether(ctx context.Context, name string, reports []*report) error {
	select {
	case rs.runs <- struct{}{}:
		defer func() { <-rs.runs }()
	case <-ctx.Done():
		return refusal.New(refusal.Busy, "too many nodes of rollouts are reported at once; try again")
	}
	return nodetx.Retry(ctx, func(ctx context.Context) error {
		change, err := rs.decide(ctx, name, reports)
		if err == nil && len(change.Do) > 0 {
			_, err = rs.Store.Commit(ctx, change)
		}
		return err
	})
}

// decide reads what reports are about and applies them; it returns what is to be written.
func (rs *Rollouts) decide(ctx context.Context, name string, reports []*report) (store.Transaction, error) {
	var change store.Transaction
	rollout, units, runs, err := rs.readReported(ctx, name, reports)
	if err != nil {
		return change, err
	}
	for i, one := range reports {
		if one.err = units[i].Err; one.err != nil {
			continue
		}
		var t *runChange
		if t, one.err = rollout.change(units[i].Tx, one.request, &runs[i]); one.err != nil {
			continue
		}
		before := t.current.State
		if one.err = t.apply(one.bound); one.err == nil {
			one.run = t.current
			t.write(&change, before)
		}
	}
	return change, nil
}

// readReported reads a rollout, and the nodes and runs that reports are about, all at one revision.
func (rs *Rollouts) readReported(ctx context.Context, name string, reports []*report) (*storedRollout, []nodetx.Loaded,
	[]nodetx.Slot[storedRun], error) {
	var stored nodetx.Slot[[]byte]
	runs, addresses := make([]nodetx.Slot[storedRun], len(reports)), make([]string, len(reports))
	for i, one := range reports {
		addresses[i] = one.address
	}
	units, err := rs.LoadEach(ctx, addresses, func(i int) []nodetx.Want {
		wants := []nodetx.Want{nodetx.Node, nodetx.Status, nodetx.BindingOf,
			nodetx.Into(key.RunsOf(name)+addresses[i], &runs[i])}
		if reports[i].request.State != api.RunRunning {
			wants = append(wants, nodetx.Events(events.Most), nodetx.Log)
		}
		if i == 0 {
			wants = slices.Insert(wants, 0, nodetx.Into(key.Rollouts+name, &stored))
		}
		return wants
	})
	if err != nil {
		return nil, nil, nil, err
	}
	if stored.Get() == nil {
		return nil, nil, nil, refusal.New(refusal.NotFound, "rollout %s does not exist", name)
	}
	kv := store.KV{Key: key.Rollouts + name, Value: *stored.Get(), Revision: stored.Revision()}
	rollout, err := rs.decoded.readRollout(kv)
	return rollout, units, runs, err
}
