// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// usesPause is the time between two writes of when operators used their tokens.
const usesPause = time.Minute

// uses is when operators used their tokens, as far as it is not stored yet.
type uses struct {
	mu   sync.Mutex
	last map[string]time.Time // the hour, by name
}

// noteUse notes the hour in which an operator used a token. It is written later: a request must not wait for it.
func (f *Fleet) noteUse(operator api.Operator) {
	hour := f.Now().Truncate(time.Hour)
	if !hour.After(operator.LastUsed) {
		return
	}
	f.uses.mu.Lock()
	defer f.uses.mu.Unlock()
	if f.uses.last == nil {
		f.uses.last = map[string]time.Time{}
	}
	f.uses.last[operator.Name] = hour
}

// KeepUses stores when operators used their tokens, until the context ends.
func (f *Fleet) KeepUses(ctx context.Context) {
	ticker := time.NewTicker(usesPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_ = f.StoreUses(ctx) // the next minute tries again what is left
	}
}

// StoreUses stores when operators used their tokens.
func (f *Fleet) StoreUses(ctx context.Context) error {
	f.uses.mu.Lock()
	pending := maps.Clone(f.uses.last)
	f.uses.mu.Unlock()
	var failed []error
	for name, hour := range pending {
		if err := f.storeUse(ctx, name, hour); err != nil {
			failed = append(failed, err)
			continue
		}
		f.uses.mu.Lock()
		if f.uses.last[name].Equal(hour) {
			delete(f.uses.last, name)
		}
		f.uses.mu.Unlock()
	}
	return errors.Join(failed...)
}

func (f *Fleet) storeUse(ctx context.Context, name string, hour time.Time) error {
	return nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Operators+name))
		if err != nil {
			return err
		}
		kv, found := snapshot.One(0)
		if !found {
			return nil // deleted meanwhile
		}
		var stored storedOperator
		if err := nodetx.Decode(kv, &stored); err != nil {
			return err
		}
		if !hour.After(stored.LastUsed) {
			return nil
		}
		stored.LastUsed = hour
		var t store.Transaction
		t.Unchanged(kv.Key, kv.Revision)
		t.Put(kv.Key, nodetx.Encode(stored))
		_, err = f.Store.Commit(ctx, t)
		return err
	})
}
