// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"log/slog"
	"sync"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// Most events that are kept of a node (contract/store.md).
	Most = 500
	// Kept is how many are left when there are more, so that not every event costs a trim.
	Kept = 450
)

// trimmer deletes the oldest events of nodes that have too many. It counts the events of the watch;
// a node that it has not counted yet is counted in the store.
type trimmer struct {
	store store.Store
	log   *slog.Logger
	ready chan struct{}

	mu     sync.Mutex
	count  map[string]int
	wanted map[string]bool
}

func newTrimmer(s store.Store, log *slog.Logger) *trimmer {
	return &trimmer{store: s, log: log, ready: make(chan struct{}, 1), count: map[string]int{}, wanted: map[string]bool{}}
}

func (t *trimmer) added(mac string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count, known := t.count[mac]
	t.count[mac] = count + 1
	if known && count+1 <= Most {
		return
	}
	t.wanted[mac] = true
	select {
	case t.ready <- struct{}{}:
	default:
	}
}

func (t *trimmer) run(ctx context.Context) {
	for {
		select {
		case <-t.ready:
		case <-ctx.Done():
			return
		}
		for _, mac := range t.take() {
			if err := t.one(ctx, mac); err != nil && ctx.Err() == nil {
				t.log.Warn("old events were not deleted", "node", mac, "error", err)
			}
		}
	}
}

func (t *trimmer) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	macs := make([]string, 0, len(t.wanted))
	for mac := range t.wanted {
		macs = append(macs, mac)
	}
	clear(t.wanted)
	return macs
}

func (t *trimmer) one(ctx context.Context, mac string) error {
	query := store.Prefix(key.EventsOf(mac))
	query.KeysOnly = true
	snapshot, err := t.store.Read(ctx, query)
	if err != nil {
		t.forget(mac)
		return err
	}
	keys := snapshot.Results[0]
	if len(keys) > Most {
		operation := store.Operation{Key: key.EventsOf(mac), Delete: true, To: keys[len(keys)-Kept].Key}
		if _, err := t.store.Commit(ctx, store.Transaction{Do: []store.Operation{operation}}); err != nil {
			t.forget(mac)
			return err
		}
		keys = keys[len(keys)-Kept:]
	}
	t.mu.Lock()
	t.count[mac] = len(keys)
	t.mu.Unlock()
	return nil
}

// forget makes the next event of the node count it again.
func (t *trimmer) forget(mac string) {
	t.mu.Lock()
	delete(t.count, mac)
	t.mu.Unlock()
}
