// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"sync"
	"time"
)

// A refresh reads objects side by side, in no order: how long the objects of a run wait, from the first of them that
// does, for others of the same machines. A plan in which one was too late is refused, as it sees both.
const (
	refreshTime = 5 * time.Second
	refreshPoll = 20 * time.Millisecond
)

// refreshed are the latest generations that the state has of machines, of the objects that are refreshed in this run.
type refreshed struct {
	mu    sync.Mutex
	all   map[string]int64
	until time.Time
}

// Refreshing records that an object of the state is refreshed, with the generation that it has there.
func (s *Site) Refreshing(mac string, generation int64) {
	s.refreshed.mu.Lock()
	defer s.refreshed.mu.Unlock()
	if s.refreshed.all == nil {
		s.refreshed.all = map[string]int64{}
	}
	s.refreshed.all[mac] = max(s.refreshed.all[mac], generation)
}

// HasNewer reports whether the state has another object of the same machine with a later generation, which took the
// place of this one.
func (s *Site) HasNewer(ctx context.Context, mac string, generation int64) bool {
	for {
		s.refreshed.mu.Lock()
		if s.refreshed.until.IsZero() {
			s.refreshed.until = time.Now().Add(refreshTime)
		}
		found, late := s.refreshed.all[mac] > generation, time.Now().After(s.refreshed.until)
		s.refreshed.mu.Unlock()
		if found || late {
			return found
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(refreshPoll):
		}
	}
}
