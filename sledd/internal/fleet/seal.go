// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"

	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// sealPage is the number of bindings that are read at once.
const sealPage = 500

// SealStored seals the user data that is stored in clear, as by an earlier version, and returns in how many bindings it
// was.
func (f *Fleet) SealStored(ctx context.Context) (int, error) {
	sealed, after := 0, ""
	for f.Box != nil {
		page, more, err := f.Page(ctx, after, sealPage)
		if err != nil {
			return sealed, err
		}
		for _, listed := range page {
			after = listed.MAC
			if listed.Binding() == nil || listed.Binding().BindingSpec.UserData == "" {
				continue
			}
			if err := f.Update(ctx, listed.MAC, nil, f.sealOne); err != nil {
				return sealed, err
			}
			sealed++
		}
		if !more {
			break
		}
	}
	return sealed, nil
}

func (f *Fleet) sealOne(tx *nodetx.Tx) error {
	if stored := tx.Binding(); stored != nil && stored.BindingSpec.UserData != "" {
		binding := *stored
		f.Seal(&binding, nil)
		tx.Bind(binding, true)
	}
	return nil
}
