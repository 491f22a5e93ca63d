// SPDX-License-Identifier: Apache-2.0

// Package patience is how long tests wait.
package patience

import (
	"testing"
	"time"
)

// Limit is the deadline of a wait. A test reaches it only if something is broken: with the race detector, and beside
// other tests on a small machine, each step can take a hundred times as long as on a developer's.
const Limit = 3 * time.Minute

// pause is the time between two polls.
const pause = 5 * time.Millisecond

// Until polls until a condition holds. It fails the test after Limit.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Limit); !holds(); <-time.After(pause) {
		if time.Now().After(end) {
			t.Fatalf("waited %s until %s", Limit, what)
		}
	}
}
