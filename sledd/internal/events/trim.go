// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// Most events that are kept of a node (contract/store.md).
	Most = 500
	// Kept is how many are left when there are more, so that not every event costs a trim.
	Kept = 450
	// keptClaims of them are claims at most when there are more. Anybody on the boot network can make claims, and
	// must not push out what an operator and the machine did.
	keptClaims = 100
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
	snapshot, err := t.store.Read(ctx, store.Prefix(key.EventsOf(mac)))
	if err != nil {
		t.forget(mac)
		return err
	}
	list := snapshot.Results[0]
	old := surplus(list)
	old = old[:min(len(old), store.MaxOperations)] // the next trim deletes the others
	if len(old) > 0 {
		operations := make([]store.Operation, len(old))
		for i, name := range old {
			operations[i] = store.Operation{Key: name, Delete: true}
		}
		if _, err := t.store.Commit(ctx, store.Transaction{Do: operations}); err != nil {
			t.forget(mac)
			return err
		}
	}
	t.mu.Lock()
	t.count[mac] = len(list) - len(old)
	t.mu.Unlock()
	return nil
}

// surplus lists the keys of the events that are deleted, the oldest first: of claims, then of all.
func surplus(list []store.KV) []string {
	if len(list) <= Most {
		return nil
	}
	var claims, others []string
	for _, kv := range list {
		if event, err := Read(kv); err == nil && event.Kind == string(admission.Claimed) {
			claims = append(claims, kv.Key)
		} else {
			others = append(others, kv.Key)
		}
	}
	drop := min(len(list)-Kept, max(0, len(claims)-keptClaims))
	rest := len(list) - Kept - drop
	return slices.Concat(claims[:drop], others[:rest])
}

// forget makes the next event of the node count it again.
func (t *trimmer) forget(mac string) {
	t.mu.Lock()
	delete(t.count, mac)
	t.mu.Unlock()
}
