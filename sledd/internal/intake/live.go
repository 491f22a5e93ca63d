// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/token"
)

const (
	// liveTime is how long a token counts as live before a body is read. The request itself checks it again in the store.
	liveTime = time.Minute
	// mostLive tokens are noted; then all are forgotten.
	mostLive = 20_000
)

// live notes tokens that were live a moment ago, so that a node that reports each second costs no further read.
type live struct {
	mu     sync.Mutex
	hashes map[string]time.Time // when each was checked
}

func (l *live) holds(bearer string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	checked, noted := l.hashes[token.Hash(bearer)]
	return noted && now.Sub(checked) < liveTime
}

// note takes a token that was checked, or was issued just now; empty: none.
func (l *live) note(bearer string, now time.Time) {
	if bearer == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hashes == nil || len(l.hashes) >= mostLive {
		l.hashes = map[string]time.Time{}
	}
	l.hashes[token.Hash(bearer)] = now
}
