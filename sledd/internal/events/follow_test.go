// SPDX-License-Identifier: Apache-2.0

package events_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

// follower records what it was called with.
type follower struct {
	mu    sync.Mutex
	calls []string
	reset chan struct{}
}

func (f *follower) See(batch store.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprint(batch.Revision))
}

func (f *follower) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "reset")
	f.reset <- struct{}{}
}

// A follower is reset before it sees a batch behind a gap: at the start, when the watch breaks, and after a compaction.
func TestAFollowerSeesEachBatchOrAReset(t *testing.T) {
	memory := &storetest.Memory{}
	first := happen(t, memory, "a", "one")
	broken := &breaking{Memory: memory, end: make(chan error)}
	hub := events.New(broken, slog.New(slog.DiscardHandler))
	f := &follower{reset: make(chan struct{}, 9)}
	hub.Follow(f)
	runHub(t, hub)
	listener, _ := listen(t, hub, "", first)
	second := happen(t, memory, "a", "two")
	kinds(t, listener, nil, 1)
	broken.end <- &store.CompactedError{Revision: second}
	for range 3 { // at the start, when it broke, when it started again
		<-f.reset
	}
	listener, _ = listen(t, hub, "", second)
	third := happen(t, memory, "a", "three")
	kinds(t, listener, nil, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	got := strings.Join(f.calls, " ")
	if want := fmt.Sprintf("reset %d %d reset reset ", first, second); !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, fmt.Sprint(third)) {
		t.Errorf("%s, want %s... %d", got, want, third)
	}
}

// breaking is a store whose watch ends with an error of the test's.
type breaking struct {
	*storetest.Memory
	end chan error
}

func (b *breaking) Watch(ctx context.Context, prefix string, after int64, see func(store.Batch)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-b.end:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	if err := b.Memory.Watch(ctx, prefix, after, see); err != nil {
		return err
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
