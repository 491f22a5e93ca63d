// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// identity of the fleet, as stored.
type identity struct {
	UUID    string    `json:"uuid"`
	Created time.Time `json:"created"`
}

// Identity returns the UUID of the fleet. The first call on an empty store creates it; afterwards it never changes, so
// that clients detect a server with another store.
func (f *Fleet) Identity(ctx context.Context) (string, error) {
	var found identity
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Fleet))
		if err != nil {
			return err
		}
		if kv, exists := snapshot.One(0); exists {
			return nodetx.Decode(kv, &found)
		}
		random, err := uuid.NewRandom()
		if err != nil {
			return fmt.Errorf("UUID of the fleet: %w", err)
		}
		found = identity{UUID: random.String(), Created: f.Now()}
		var t store.Transaction
		t.Unchanged(key.Fleet, 0)
		t.Put(key.Fleet, nodetx.Encode(found))
		_, err = f.Store.Commit(ctx, t)
		return err
	})
	if err != nil {
		return "", err
	}
	return found.UUID, nil
}
