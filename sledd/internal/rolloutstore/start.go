// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// keptRollouts that have ended.
	keptRollouts = 50
	// trimmedRollouts at most in one transaction.
	trimmedRollouts = 16
)

// Start starts a rollout, or resumes the same one; fresh reports which.
func (rs *Rollouts) Start(ctx context.Context, kind, operator string, spec api.RolloutSpec,
) (shown api.Rollout, fresh bool, err error) {
	var request *startRequest
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		if request, err = rs.readStart(ctx, kind, operator, spec); err != nil {
			return err
		}
		t, err := request.transaction()
		if err != nil {
			return err
		}
		_, err = rs.Store.Commit(ctx, t)
		return err
	})
	if err != nil {
		return api.Rollout{}, false, err
	}
	for _, old := range request.replaced {
		if _, err := rs.evaluate(ctx, old.Name); err != nil {
			return api.Rollout{}, false, err
		}
	}
	if !request.fresh {
		if err := rs.catchUp(ctx, request.rollout, request.asked.MACs); err != nil {
			return api.Rollout{}, false, err
		}
	}
	shown, err = rs.evaluate(ctx, request.rollout.Name)
	return shown, request.fresh, err
}

// Try checks and answers like Start, and stores nothing.
func (rs *Rollouts) Try(ctx context.Context, kind, operator string, spec api.RolloutSpec) (api.Rollout, bool, error) {
	request, err := rs.readStart(ctx, kind, operator, spec)
	if err != nil {
		return api.Rollout{}, false, err
	}
	if _, err := request.transaction(); err != nil {
		return api.Rollout{}, false, err
	}
	var runs map[string]storedRun
	if !request.fresh {
		if _, runs, err = rs.rollout(ctx, request.rollout.Name); err != nil {
			return api.Rollout{}, false, err
		}
	}
	return rs.show(request.rollout, runs), request.fresh, nil
}

// startRequest is a requested rollout, and the stored ones.
type startRequest struct {
	*Rollouts
	asked    rollout.Identity
	kept     map[string]bool // MACs whose disks are left as they are
	names    []string        // of its nodes
	owner    string
	there    []*storedRollout
	revision int64 // at which those were read
	rollout  *storedRollout
	fresh    bool
	replaced []*storedRollout
}

// readStart reads what a new rollout has to be compared with.
func (rs *Rollouts) readStart(ctx context.Context, kind, operator string, spec api.RolloutSpec) (*startRequest, error) {
	queries := []store.Query{store.Prefix(key.Rollouts), store.Prefix(key.Names), store.Prefix(key.MACs)}
	if len(spec.MaxUnavailable) > 0 {
		queries = append(queries, store.Prefix(key.Nodes))
	}
	snapshot, err := rs.Store.Read(ctx, queries...)
	if err != nil {
		return nil, err
	}
	b := &startRequest{Rollouts: rs, owner: operator, revision: snapshot.Revision,
		asked: rollout.Identity{Kind: kind, Spec: spec}}
	for _, kv := range snapshot.Results[0] {
		r, err := readRollout(kv)
		if err != nil {
			return nil, err
		}
		b.there = append(b.there, r)
	}
	if err := b.resolve(snapshot.Results[1], snapshot.Results[2]); err != nil {
		return nil, err
	}
	labels := make([]map[string]string, len(b.names))
	if len(spec.MaxUnavailable) > 0 {
		if labels, err = b.labels(snapshot.Results[3]); err != nil {
			return nil, err
		}
	}
	if err := b.resolveConflicts(labels); err != nil {
		return nil, err
	}
	return b, b.count(ctx)
}

// resolve finds the requested nodes among the declared ones, by their names or MACs, or names all faults.
func (b *startRequest) resolve(names, further []store.KV) error {
	macs, nodes := map[string]string{}, map[string]string{}
	for _, kv := range names {
		name := strings.TrimPrefix(kv.Key, key.Names)
		macs[name], nodes[string(kv.Value)] = string(kv.Value), name
	}
	for _, kv := range further {
		macs[strings.TrimPrefix(kv.Key, key.MACs)] = string(kv.Value)
	}
	faults := &refusal.Error{Kind: refusal.Invalid, Message: "no rollout was started: some nodes are not usable"}
	seen, memory := map[string]bool{}, map[string]bool{}
	b.kept = map[string]bool{}
	for _, reference := range b.asked.Spec.Memory {
		memory[reference] = true
	}
	for i, reference := range b.asked.Spec.Nodes {
		address, _ := mac.Parse(reference) // none: it is a name
		if holder := macs[cmp.Or(address, reference)]; holder != "" {
			address = holder
		}
		fault := ""
		switch {
		case nodes[address] == "":
			fault = fmt.Sprintf("node %s is not declared", reference)
		case seen[address]:
			fault = fmt.Sprintf("node %s is named twice", reference)
		}
		if fault != "" {
			faults.Details = append(faults.Details, refusal.Detail{
				Location: fmt.Sprintf("body.nodes[%d]", i), Message: fault, Value: reference})
			continue
		}
		seen[address], b.kept[address] = true, memory[reference]
		b.asked.MACs, b.names = append(b.asked.MACs, address), append(b.names, nodes[address])
	}
	return faults.OrNil()
}

// labels returns the labels of the requested nodes.
func (b *startRequest) labels(nodes []store.KV) ([]map[string]string, error) {
	all := make(map[string]map[string]string, len(nodes))
	for _, kv := range nodes {
		var spec api.NodeSpec
		if err := nodetx.Decode(kv, &spec); err != nil {
			return nil, err
		}
		all[spec.MAC] = spec.Labels
	}
	labels := make([]map[string]string, len(b.asked.MACs))
	for i, address := range b.asked.MACs {
		labels[i] = all[address]
	}
	return labels, nil
}

// resolveConflicts finds out whether this rollout is a new one, and what it does to those that are there.
func (b *startRequest) resolveConflicts(labels []map[string]string) error {
	waves, err := rollout.Waves(b.asked.Spec, labels)
	var fault *rollout.SpecError
	if errors.As(err, &fault) {
		return refusal.Value("body."+fault.Field, fault.Value, fault)
	}
	for _, there := range b.there {
		switch rollout.Compare(there.one(), there.State, b.asked) {
		case rollout.Unrelated:
		case rollout.Resumes:
			b.resume(there)
			return nil
		case rollout.Conflicts:
			return refusal.New(refusal.Conflict,
				"rollout %s (%s) runs and has some of these nodes: wait for it, or sledctl rollout abort %s",
				there.Name,
				there.Desired, there.Name)
		case rollout.Replaces:
			b.replaced = append(b.replaced, there)
		}
	}
	b.fresh = true
	number := 1
	for _, there := range b.there {
		number = max(number, numberOf(there.Name)+1)
	}
	now := b.Now()
	b.rollout = &storedRollout{MACs: b.asked.MACs, WaveOf: waves,
		Rollout: api.Rollout{RolloutSpec: b.asked.Spec, Kind: b.asked.Kind,
			Name: fmt.Sprintf("%s-%d", b.asked.Kind, number), State: api.RolloutRunning, Owner: b.owner,
			Started: now, Seen: now}}
	b.rollout.Nodes, b.rollout.Memory = b.names, nil
	for _, old := range b.replaced {
		old.abort(now, "replaced by "+b.rollout.Name)
	}
	return nil
}

// numberOf returns the number at the end of a rollout's name. All kinds count together, so that no name comes twice.
func numberOf(name string) int {
	number, _ := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	return number
}

func (b *startRequest) resume(there *storedRollout) {
	there.State, there.Reason, there.Seen = api.RolloutRunning, api.Prose{}, b.Now()
	there.Limits, there.Command = b.asked.Spec.Limits, b.asked.Spec.Command
	there.Resumed++
	b.rollout, b.replaced = there, nil
}

// transaction is all that is to be written, if no rollout has changed since.
func (b *startRequest) transaction() (store.Transaction, error) {
	t := store.Transaction{If: []store.Condition{{Key: key.Rollouts, To: store.PrefixEnd(key.Rollouts),
		Revision: b.revision}}}
	t.Put(key.Rollouts+b.rollout.Name, nodetx.Encode(b.rollout))
	if !b.fresh {
		return t, nil
	}
	if len(b.replaced) > trimmedRollouts {
		return t, refusal.New(refusal.Conflict,
			"%d rollouts that were stopped have some of these nodes: abort them first, such as %s", len(b.replaced),
			b.replaced[0].Name)
	}
	for _, old := range b.replaced {
		t.Put(key.Rollouts+old.Name, nodetx.Encode(old))
	}
	for _, old := range b.surplus() {
		t.Delete(key.Rollouts + old.Name)
		t.Do = append(t.Do, store.Operation{Key: key.RunsOf(old.Name), Delete: true,
			To: store.PrefixEnd(key.RunsOf(old.Name))})
	}
	return t, nil
}

// surplus is the oldest of those that have ended and are too many.
func (b *startRequest) surplus() []*storedRollout {
	var ended []*storedRollout
	for _, there := range b.there {
		if !there.unfinished() && !slices.Contains(b.replaced, there) {
			ended = append(ended, there)
		}
	}
	slices.SortFunc(ended, func(x, y *storedRollout) int { return x.Ended.Compare(y.Ended) })
	return ended[:min(max(len(ended)-keptRollouts, 0), trimmedRollouts)]
}

// catchUp ends the runs of nodes that were done while nobody watched. A request that resumes leaves them out.
func (rs *Rollouts) catchUp(ctx context.Context, r *storedRollout, asked []string) error {
	_, runs, err := rs.rollout(ctx, r.Name)
	if err != nil {
		return err
	}
	for _, address := range asked {
		delete(runs, address)
	}
	var reports []*report
	for _, address := range slices.Sorted(maps.Keys(runs)) {
		if runs[address].State != api.RunDone {
			reports = append(reports, &report{address: address, request: api.NodeRunSpec{State: api.RunDone}, bound: true})
		}
	}
	if err := rs.putReports(ctx, r.Name, reports); err != nil {
		return err
	}
	for _, one := range reports {
		if one.err != nil && !refusal.Is(one.err, refusal.Conflict) {
			return one.err
		}
	}
	return nil
}
