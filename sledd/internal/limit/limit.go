// SPDX-License-Identifier: Apache-2.0

// Package limit bounds how often, or how much, each of many may.
package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate is an amount at once, and one more after each interval.
type Rate struct {
	Burst int
	Every time.Duration
}

// most keys that are held. Those that have their whole burst again are dropped first; then all: a caller with that many
// keys is bounded by another limit.
const most = 20_000

// Keyed is a limit for each key, such as a MAC.
type Keyed struct {
	rate Rate
	most int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// New makes a limit.
func New(r Rate) *Keyed { return &Keyed{rate: r, most: most, buckets: map[string]*rate.Limiter{}} }

// Allow reports whether a key may use an amount now; if not, nothing of it is used.
func (k *Keyed) Allow(key string, now time.Time, amount int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	limiter, known := k.buckets[key]
	if !known {
		if len(k.buckets) >= k.most {
			k.drop(now)
		}
		limiter = rate.NewLimiter(rate.Every(k.rate.Every), k.rate.Burst)
		k.buckets[key] = limiter
	}
	return limiter.AllowN(now, amount)
}

func (k *Keyed) drop(now time.Time) {
	for key, limiter := range k.buckets {
		if limiter.TokensAt(now) >= float64(k.rate.Burst) {
			delete(k.buckets, key)
		}
	}
	if len(k.buckets) >= k.most {
		clear(k.buckets)
	}
}
