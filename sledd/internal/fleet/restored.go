// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// restorer is who ends what a backup brings back.
const restorer = "the restore of a backup"

// Restored holds all nodes of a store that was put back, and ends what it brings back: tokens and tickets of nodes,
// logins, rescues and jobs, and all operators but admin, whose tokens may have been revoked since the backup. It
// returns the names of these operators.
func (f *Fleet) Restored(ctx context.Context) (ended []string, err error) {
	if err := f.newEpoch(ctx); err != nil {
		return nil, err
	}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Operators), store.Prefix(key.Detours))
	if err != nil {
		return nil, err
	}
	var t store.Transaction
	for _, prefix := range []string{key.Tokens, key.Logins} {
		t.Do = append(t.Do, store.Operation{Key: prefix, Delete: true, To: store.PrefixEnd(prefix)})
	}
	for _, kv := range snapshot.Results[0] {
		name := strings.TrimPrefix(kv.Key, key.Operators)
		if name == admin {
			continue
		}
		ended = append(ended, name)
		t.Delete(kv.Key)
	}
	for some := range slices.Chunk(t.Do, store.MaxOperations) {
		if _, err := f.Store.Commit(ctx, store.Transaction{Do: some}); err != nil {
			return nil, err
		}
	}
	for _, kv := range snapshot.Results[1] {
		if err := f.update(ctx, strings.TrimPrefix(kv.Key, key.Detours), endDetour); err != nil {
			return nil, err
		}
	}
	return ended, nil
}

// newEpoch starts the epoch of a store that was put back, with the hold of all nodes.
func (f *Fleet) newEpoch(ctx context.Context) error {
	return f.changeIdentity(ctx, func(identity *nodetx.Identity) bool {
		identity.Before, identity.Epoch, identity.Held = identity.Epoch, uuid.NewString(), f.Now()
		return true
	})
}

// changeIdentity changes what the store is; not if change returns false.
func (f *Fleet) changeIdentity(ctx context.Context, change func(*nodetx.Identity) bool) error {
	return nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Fleet))
		if err != nil {
			return err
		}
		kv, found := snapshot.One(0)
		var identity nodetx.Identity
		if found {
			if err := nodetx.Decode(kv, &identity); err != nil {
				return err
			}
		}
		if !change(&identity) {
			return nil
		}
		var t store.Transaction
		t.Unchanged(key.Fleet, kv.Revision)
		t.Put(key.Fleet, nodetx.Encode(identity))
		_, err = f.Store.Commit(ctx, t)
		return err
	})
}

func endDetour(tx *nodeTx) error {
	if job := tx.Job(); job != nil {
		tx.EndJob(job.Finish(api.JobLost, restorer, nodetext.Clean("the store was restored"), tx.Now))
	}
	if tx.Detour() != nil {
		tx.SetDetour(detour.Detour{})
	}
	return nil
}
