// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Reimage raises the generation of a binding. All else stays as it is stored, also the user data, which is not given out, and the owner: the
// wish is the same, so nobody's is taken away. A generation other than 0 is the one that it has to have then.
func (f *Fleet) Reimage(ctx context.Context, reference string, generation int64, wanted Wanted) (api.Binding, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Binding{}, err
	}
	var binding api.Binding
	err = retry(ctx, func(ctx context.Context) error {
		before, err := f.load(ctx, address)
		if err != nil {
			return err
		}
		if before.binding == nil {
			return refuse(NotFound, "node %s is not bound: there is no wish to fulfil again", reference)
		}
		again := Change{Wanted: wanted, BulkBinding: api.BulkBinding{BindingSpec: before.binding.BindingSpec, Reimage: true, IfGeneration: generation}}
		v, err := f.load(ctx, address, store.Key(key.Images+named(again.BindingSpec)))
		if err != nil {
			return err
		}
		if v.read[iBinding].Revision != before.read[iBinding].Revision {
			return store.ErrChanged
		}
		binding, err = f.commit(ctx, v, again)
		return err
	})
	return binding, err
}
