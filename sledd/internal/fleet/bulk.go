// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// bulkItems in one transaction: each has up to twelve conditions.
	bulkItems = store.MaxOperations / 12
	// bulkBytes of values in one transaction: etcd takes 1.5 MiB.
	bulkBytes = 512 << 10
	// bulkWriters at the same time: commits wait for the disk, not for each other.
	bulkWriters = 8
)

// refusals of a bulk call. When items are refused for several reasons, the earliest here is
// reported: a fault stays when the others are gone, and an owner when the plan is made again.
var refusals = []struct {
	kind    refusal.Kind
	message string
}{
	{refusal.Invalid, "nothing was changed: some items are at fault"},
	{refusal.Conflict, "nothing was changed: some bindings belong to others"},
	{refusal.Precondition, "nothing was changed: some bindings are not as wanted"},
}

// PutBindings binds many nodes, or removes bindings. All items are checked first: if one is refused, or all of them
// exceed a limit, nothing is changed, and all refused items are named by index, or all nodes that count. Then they are
// written in batches; when the store fails in between, the error names all items that may not be bound.
func (f *Fleet) PutBindings(ctx context.Context, request api.BulkBindings,
	reimage, takeOver bool) (api.BindingList, error) {
	items := request.Items
	list := api.BindingList{Items: make([]api.Binding, len(items))}
	if err := f.mayAssume(request.Assume); err != nil {
		return list, err
	}
	macs, err := f.resolveAll(ctx, items, request.Assume)
	if err != nil {
		return list, err
	}
	images, err := f.Images(ctx)
	if err != nil {
		return list, err
	}
	hashKey, err := f.HashKey(ctx)
	if err != nil {
		return list, err
	}
	b := bulk{Fleet: f, hashKey: hashKey, macs: macs, units: make([]*nodeTx, len(items)), images: map[string]*api.Image{},
		limits: request.Limits}
	for _, item := range items {
		item.Reimage = item.Reimage || reimage
		b.changes = append(b.changes, Change{BulkBinding: item, TakeOver: takeOver})
	}
	for i, image := range images.Items {
		b.images[image.Name] = &images.Items[i]
	}
	b.assume(request.Assume)
	if err := b.check(ctx); err != nil {
		return list, err
	}
	failed := b.each(func(c chunk) error {
		bindings, err := b.write(ctx, c)
		copy(list.Items[c.at:c.end], bindings)
		return err
	})
	return list, b.unfinished(failed)
}

type bulk struct {
	*Fleet
	hashKey string
	changes []Change
	macs    []string
	units   []*nodeTx // as they were checked, with what is to be written
	images  map[string]*api.Image
	nodes   map[string]*api.NodeSpec // that a dry run assumes, by MAC
	limits  api.Limits
}

// resolveAll returns the MAC of every item, or all faults.
func (f *Fleet) resolveAll(ctx context.Context, specs []api.BulkBinding, assume *api.Assumed) ([]string, error) {
	names, err := f.names(ctx)
	if err != nil {
		return nil, err
	}
	assumeNames(assume, names)
	faults := &refusal.Error{Kind: refusals[0].kind, Message: refusals[0].message}
	macs := make([]string, len(specs))
	seen, captures := map[string]int{}, map[string]int{}
	for i, spec := range specs {
		address, err := mac.Parse(spec.Node)
		if holder := names[cmp.Or(address, spec.Node)]; holder != "" || err != nil {
			address = holder
		}
		macs[i] = address
		if address == "" {
			faults.AddItem(i, "node", spec.Node, fmt.Sprintf("node %s does not exist", spec.Node))
		} else if first, twice := seen[address]; twice {
			faults.AddItem(i, "node", spec.Node, fmt.Sprintf("node %s is item %d already", spec.Node, first))
		}
		seen[address] = i
		if spec.Capture == "" || spec.Unbind {
			continue
		}
		if first, twice := captures[spec.Capture]; twice {
			faults.AddItem(i, "capture", spec.Capture, fmt.Sprintf("item %d is to become image %s already", first, spec.Capture))
		}
		captures[spec.Capture] = i
	}
	return macs, faults.OrNil()
}

// names returns the MACs of nodes by their names and further MACs.
func (f *Fleet) names(ctx context.Context) (map[string]string, error) {
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Names), store.Prefix(key.MACs))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for i, prefix := range []string{key.Names, key.MACs} {
		for _, kv := range snapshot.Results[i] {
			names[strings.TrimPrefix(kv.Key, prefix)] = string(kv.Value)
		}
	}
	return names, nil
}

// chunk is the items from at to before end.
type chunk struct{ at, end int }

// each processes all chunks, a few at the same time, and returns the errors.
func (b *bulk) each(do func(c chunk) error) map[chunk]error {
	failed := map[chunk]error{}
	var lock sync.Mutex
	var running sync.WaitGroup
	slots := make(chan struct{}, bulkWriters)
	for at := 0; at < len(b.changes); {
		c := chunk{at, b.end(at)}
		at = c.end
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if err := do(c); err != nil {
				lock.Lock()
				failed[c] = err
				lock.Unlock()
			}
		})
	}
	running.Wait()
	return failed
}

// unfinished makes one error of those of chunks, which names all their items.
func (b *bulk) unfinished(failed map[chunk]error) error {
	if len(failed) == 0 {
		return nil
	}
	all := &refusal.Error{Kind: refusal.Unfinished}
	for _, c := range slices.SortedFunc(maps.Keys(failed), func(x, y chunk) int { return x.at - y.at }) {
		for i := c.at; i < c.end; i++ {
			all.AddItem(i, "node", b.changes[i].Node, "may not be done: "+failed[c].Error())
		}
	}
	all.Message = fmt.Sprintf("%d of %d items are done; the others may not be, ask again for them",
		len(b.changes)-len(all.Details), len(b.changes))
	return all
}

// check tries all items without writing any.
func (b *bulk) check(ctx context.Context) error {
	refused := make([]*refusal.Error, len(b.changes))
	failed := b.each(func(c chunk) error {
		units, err := b.read(ctx, c)
		for i, tx := range units {
			at := c.at + i
			b.units[at] = tx
			if err := b.change(at, tx); err != nil && !errors.As(err, &refused[at]) {
				return err
			}
		}
		return err
	})
	for _, err := range failed {
		return err // one is as good as another: nothing was written
	}
	if err := b.refuse(refused); err != nil {
		return err
	}
	return b.count()
}

// count refuses more wipes than the request allows.
func (b *bulk) count() error {
	losses := nodetx.Losses{}
	for _, tx := range b.units {
		if tx.wipes() {
			losses.Add(tx.NameOr(tx.MAC), tx.last() > 0)
		}
	}
	return losses.Check(b.limits)
}

// refuse makes one error of those of items, which may be nil.
func (b *bulk) refuse(refused []*refusal.Error) error {
	all := &refusal.Error{}
	kinds := map[refusal.Kind]bool{}
	for i, one := range refused {
		if one == nil {
			continue
		}
		kind := one.Kind
		if kind == refusal.NotFound {
			kind = refusal.Invalid
		}
		kinds[kind] = true
		for _, detail := range one.Details {
			all.AddItem(i, strings.TrimPrefix(detail.Location, "body."), detail.Value, detail.Message)
		}
		if len(one.Details) == 0 {
			all.AddItem(i, "node", b.changes[i].Node, one.Message)
		}
	}
	for _, refusal := range slices.Backward(refusals) {
		if kinds[refusal.kind] {
			all.Kind, all.Message = refusal.kind, refusal.message
		}
	}
	return all.OrNil()
}

// counted reports whether a node that was read again loses no more than when the limits were checked.
func (b *bulk) counted(i int, tx *nodeTx) bool {
	checked := b.units[i]
	return !tx.wipes() || checked.wipes() && (tx.last() == 0 || checked.last() > 0)
}

func (b *bulk) change(i int, tx *nodeTx) error {
	spec := b.changes[i].BindingSpec
	return tx.change(b.changes[i], b.images[named(spec)], b.images[spec.Kernel])
}

// end returns the end of the chunk that starts at an item.
func (b *bulk) end(at int) int {
	end, size := at, 0
	for end < len(b.changes) && end-at < bulkItems {
		spec := b.changes[end]
		size += 4096 + len(spec.UserData) + len(strings.Join(spec.AuthorizedKeys, " "))
		if end > at && size > bulkBytes {
			break
		}
		end++
	}
	return end
}

// read reads the items of a chunk at one revision.
func (b *bulk) read(ctx context.Context, c chunk) ([]*nodeTx, error) {
	list, err := b.LoadMany(ctx, b.macs[c.at:c.end], b.kinds()...)
	if err != nil {
		return nil, err
	}
	units := make([]*nodeTx, len(list))
	for i, tx := range list {
		units[i] = &nodeTx{Tx: b.assumed(tx), fleet: b.Fleet, hashKey: b.hashKey}
	}
	return units, nil
}

// write stores the items of a chunk, all or none. If one of them was changed since the check, all are checked again.
func (b *bulk) write(ctx context.Context, c chunk) ([]api.Binding, error) {
	units := b.units[c.at:c.end]
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		changed := b.commitAll(ctx, units)
		if !errors.Is(changed, store.ErrChanged) {
			return changed
		}
		var err error
		if units, err = b.read(ctx, c); err != nil {
			return err
		}
		for i, tx := range units {
			if err := b.change(c.at+i, tx); err != nil {
				return err
			}
			if b.limits != (api.Limits{}) && !b.counted(c.at+i, tx) {
				return refusal.New(refusal.Precondition, "%s has changed since the limits were checked", tx.NameOr(tx.MAC))
			}
		}
		return changed // and these are for the next attempt
	})
	if err != nil {
		return nil, err
	}
	bindings := make([]api.Binding, len(units))
	for i, tx := range units {
		bindings[i] = tx.result(b.changes[c.at+i].Node)
	}
	return bindings, nil
}

// commitAll writes what units of work have to change, in one transaction.
func (b *bulk) commitAll(ctx context.Context, units []*nodeTx) error {
	var t store.Transaction
	conditions := map[store.Condition]bool{}
	for _, tx := range units {
		b.collect(&t, conditions, tx)
	}
	if len(t.Do) == 0 {
		return nil
	}
	revision, err := b.Store.Commit(ctx, t)
	for _, tx := range units {
		if tx.Binding() != nil && len(tx.Writes.Do) > 0 && revision != 0 {
			tx.Binding().Revision = revision
		}
	}
	return err
}

// collect adds what a unit of work changes to a transaction of many, each condition once.
func (b *bulk) collect(t *store.Transaction, conditions map[store.Condition]bool, tx *nodeTx) {
	one := tx.Transaction()
	for _, condition := range one.If {
		if !conditions[condition] {
			conditions[condition] = true
			t.If = append(t.If, condition)
		}
	}
	t.Do = append(t.Do, one.Do...)
}
