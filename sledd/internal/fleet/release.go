// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// releasedTogether is how many nodes are released in one transaction: each is eight records.
const releasedTogether = (store.MaxOperations - 1) / 8

// Release lets nodes follow their bindings, also on disks that are ahead of the store, and ends their hold. All of them
// end the hold of the store.
func (f *Fleet) Release(ctx context.Context, spec api.ReleaseSpec) (api.OutlookList, error) {
	list := api.OutlookList{Items: []api.Outlook{}}
	macs, err := f.released(ctx, spec)
	if err != nil {
		return list, err
	}
	for some := range slices.Chunk(macs, releasedTogether) {
		var outlooks []api.Outlook
		err := nodetx.Retry(ctx, func(ctx context.Context) (err error) {
			outlooks, err = f.release(ctx, some)
			return err
		})
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, outlooks...)
	}
	if spec.All {
		err = f.endHold(ctx)
	}
	return list, err
}

// released returns the MACs of the nodes that a request selects.
func (f *Fleet) released(ctx context.Context, spec api.ReleaseSpec) (macs []string, err error) {
	if spec.All == (len(spec.Nodes) > 0) {
		return nil, refusal.New(refusal.Invalid, "want either nodes or all")
	}
	if spec.All {
		const page = 1000
		_, err = f.Walk(ctx, "", page, func(tx *nodetx.Tx) bool {
			if tx.Known() {
				macs = append(macs, tx.MAC)
			}
			return true
		})
		return macs, err
	}
	for some := range slices.Chunk(spec.Nodes, store.MaxOperations) {
		resolved, err := f.ResolveEach(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, one := range resolved {
			if one.Err != nil {
				return nil, one.Err
			}
			macs = append(macs, one.MAC)
		}
	}
	slices.Sort(macs)
	return slices.Compact(macs), nil
}

func (f *Fleet) release(ctx context.Context, macs []string) ([]api.Outlook, error) {
	units, err := f.LoadMany(ctx, macs, append(slices.Clone(nodetx.Core), nodetx.Facts)...)
	if err != nil {
		return nil, err
	}
	outlooks := make([]api.Outlook, len(units))
	for i, tx := range units {
		outlooks[i] = next(tx)
		if tx.Release() {
			tx.AddEvent(api.Event{Kind: "release", Generation: tx.Generation()})
		}
	}
	_, err = f.Commit(ctx, units...)
	return outlooks, err
}

// next is what a node does next by its binding, once it is released.
func next(tx *nodetx.Tx) api.Outlook {
	o := api.Outlook{Node: tx.NameOr(tx.MAC), Before: tx.Status().Generation, Had: tx.Status().Image}
	now := tx.Binding()
	if now == nil {
		return o
	}
	o.Generation, o.Image, o.Disk = now.Generation, now.Image, cmp.Or(now.Disk, tx.Spec().Disk)
	o.Partition = now.Partition
	if now.WipesAll() || tx.HandsOver() {
		o.Disk = api.AllDisks
	}
	o.Match(tx.Spec().KeepDisks, tx.Facts().Candidates())
	if tx.Unfinished() {
		o.When = api.When(tx.Status().Phase, tx.Detour() != nil)
		if now.Capture == "" {
			o.Wipes = o.WipeText()
		}
	}
	return o
}

// endHold ends the hold of the store.
func (f *Fleet) endHold(ctx context.Context) error {
	return f.changeIdentity(ctx, func(identity *nodetx.Identity) bool {
		held := !identity.Held.IsZero()
		identity.Held = time.Time{}
		return held
	})
}
