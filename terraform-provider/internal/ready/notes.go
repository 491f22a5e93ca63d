// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"context"
	"maps"
	"sync"
	"time"
)

// notes collects what must be read again, so that simultaneous events of many nodes cause one reading.
type notes struct {
	wake chan struct{}

	mu   sync.Mutex
	next stale
}

// stale is what must be read again.
type stale struct {
	all  bool
	macs map[string]bool
	err  error // the end of all events
}

func newNotes() *notes { return &notes{wake: make(chan struct{}, 1)} }

// add adds to the notes.
func (n *notes) add(more stale) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next.all = n.next.all || more.all
	if n.next.macs == nil {
		n.next.macs = map[string]bool{}
	}
	maps.Copy(n.next.macs, more.macs)
	if more.err != nil {
		n.next.err = more.err
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// take waits until there is a note, and then for the gather time for more.
func (n *notes) take(ctx context.Context, gather time.Duration) (stale, error) {
	select {
	case <-n.wake:
	case <-ctx.Done():
		return stale{}, ctx.Err() //nolint:wrapcheck // states why it ended
	}
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return stale{}, ctx.Err() //nolint:wrapcheck // states why it ended
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.next
	n.next = stale{}
	return taken, nil
}
