// SPDX-License-Identifier: Apache-2.0

package events

import "github.com/sled-fleet/sled/sledd/internal/store"

// Follower receives each batch of the watch, in order and perhaps repeatedly.
type Follower interface {
	See(batch store.Batch)
	// Reset is called when batches may have been missed. What the store returns after it is not older than the next batch.
	Reset()
}

// Follow adds a follower. It must be called before Run.
func (h *Hub) Follow(f Follower) { h.followers = append(h.followers, f) }

func (h *Hub) reset() {
	for _, follower := range h.followers {
		follower.Reset()
	}
}
