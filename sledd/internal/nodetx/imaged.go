// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"context"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// comes is how long after its binding a node is thought to come for its plan.
const comes = 10 * time.Minute

// unwritten are the phases of a node that has its plan, and not yet its image.
var unwritten = []api.Phase{api.Idle, api.Booting, api.Wiping, api.Writing}

// Imaged counts the nodes that receive an image now or soon, but for one. It is 0 while that is not known cheaply:
// without a mirror, or when it is behind.
func (db *DB) Imaged(ctx context.Context, digest, but string) (int, error) {
	view, err := db.rows.View(ctx)
	if err != nil || view == nil {
		return 0, err
	}
	count, now := 0, db.Now()
	for found, err := range view.After("") {
		if err != nil {
			return 0, err
		}
		if found.ID != but && found.Value.receives(digest, now) {
			count++
		}
	}
	return count, nil
}

// receives reports whether the node has a plan that it has not written yet, or has been bound so lately that it will
// have one.
func (tx *Tx) receives(digest string, now time.Time) bool {
	binding, status := tx.Binding(), tx.Status()
	if binding == nil || binding.Digest != digest || binding.Transport == plan.Unicast {
		return false
	}
	if binding.Generation != status.Generation {
		return now.Sub(binding.Updated) < comes
	}
	return slices.Contains(unwritten, status.Phase)
}
