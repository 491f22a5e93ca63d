// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Reimage raises the generation of a binding. Everything else stays as stored, including the user
// data, which is never returned, and the owner: the desired state is the same, so no owner loses a
// binding. A generation other than 0 must be the present one.
func (f *Fleet) Reimage(ctx context.Context, reference string, generation int64,
	wanted nodetx.Wanted) (api.Binding, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Binding{}, err
	}
	var binding api.Binding
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		before, err := f.load(ctx, address)
		if err != nil {
			return err
		}
		if before.Binding() == nil {
			return refusal.New(refusal.NotFound, "node %s is not bound: there is nothing to carry out again", reference)
		}
		again := Change{Wanted: wanted, BulkBinding: api.BulkBinding{BindingSpec: before.Binding().BindingSpec, Reimage: true,
			IfGeneration: generation, KeepUserData: true}}
		again.UserData = ""
		tx, err := f.load(ctx, address, nodetx.Facts, nodetx.Image(named(again.BindingSpec)))
		if err != nil {
			return err
		}
		if tx.RevisionOf(nodetx.BindingOf) != before.RevisionOf(nodetx.BindingOf) {
			return store.ErrChanged
		}
		binding, err = f.commit(ctx, tx, again)
		return err
	})
	return binding, err
}
