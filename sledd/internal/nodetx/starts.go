// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// startsEvery is how often the starts of all machines are read again.
	startsEvery = time.Minute
	// startsPage is how many nodes are read at once without a mirror.
	startsPage = 1000
)

// Starts knows of each machine the slowest start that was measured of its model. The zero value knows none.
type Starts struct {
	byMAC atomic.Pointer[map[string]time.Duration]
}

// of returns the slowest known start of the model of a machine; 0: not known.
func (s *Starts) of(mac string) time.Duration {
	if s == nil {
		return 0
	}
	if known := s.byMAC.Load(); known != nil {
		return (*known)[mac]
	}
	return 0
}

// FollowStarts reads the starts of all machines, each minute until the context ends.
func (db *DB) FollowStarts(ctx context.Context, log *slog.Logger) {
	for {
		if err := db.ReadStarts(ctx); err != nil && ctx.Err() == nil {
			log.Warn("the starts of machines cannot be read: rival_time alone holds", "error", err)
		}
		select {
		case <-time.After(startsEvery):
		case <-ctx.Done():
			return
		}
	}
}

// ReadStarts reads them once.
func (db *DB) ReadStarts(ctx context.Context) error {
	models, err := db.Models(ctx)
	if err != nil {
		return err
	}
	slowest := map[string]time.Duration{}
	if _, err := db.Walk(ctx, "", startsPage, func(tx *Tx) bool {
		if model := models[tx.MAC]; model != "" {
			slowest[model] = max(slowest[model], tx.Admission().Slowest())
		}
		return true
	}); err != nil {
		return err
	}
	starts := map[string]time.Duration{}
	for mac, model := range models {
		if start := slowest[model]; start > 0 {
			starts[mac] = start
		}
	}
	db.Policy.Starts.byMAC.Store(&starts)
	return nil
}
