// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/google/uuid"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// keyBytes is the length of the key of a fleet.
const keyBytes = 32

// Identity returns the UUID of the fleet. The first call on an empty store creates it; afterwards it never changes, so
// that clients detect a server with another store.
func (f *Fleet) Identity(ctx context.Context) (string, error) {
	found, err := f.identity(ctx)
	return found.UUID, err
}

// HashKey returns the key of hashes of what others must not guess, in hexadecimal. It is made with the identity, and
// never changes either.
func (f *Fleet) HashKey(ctx context.Context) (string, error) {
	found, err := f.identity(ctx)
	return found.Key, err
}

func (f *Fleet) identity(ctx context.Context) (nodetx.Identity, error) {
	var found nodetx.Identity
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Fleet))
		if err != nil {
			return err
		}
		kv, exists := snapshot.One(0)
		if exists {
			found = nodetx.Identity{}
			return nodetx.Decode(kv, &found)
		}
		secret := make([]byte, keyBytes)
		_, _ = rand.Read(secret) // never fails: the Go runtime ends the process first
		found = nodetx.Identity{UUID: uuid.NewString(), Created: f.Now(), Key: hex.EncodeToString(secret),
			Epoch: uuid.NewString()}
		var t store.Transaction
		t.Unchanged(key.Fleet, kv.Revision)
		t.Put(key.Fleet, nodetx.Encode(found))
		_, err = f.Store.Commit(ctx, t)
		return err
	})
	if err != nil {
		return nodetx.Identity{}, err
	}
	return found, nil
}
