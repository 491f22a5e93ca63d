// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

const (
	// floodClaims to be one node within floodTime are an alarm.
	floodClaims = 20
	floodTime   = time.Minute
	// mostFloods nodes are counted; then all are forgotten.
	mostFloods = 20_000
)

// floods counts the claims to be each node, also those that are refused.
type floods struct {
	mu     sync.Mutex
	counts map[string]flood // by MAC
}

type flood struct {
	from   time.Time
	claims int
}

// add counts a claim, and reports whether it is the one that makes a flood of them.
func (f *floods) add(nic string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	count, known := f.counts[nic]
	if f.counts == nil || !known && len(f.counts) >= mostFloods {
		f.counts = map[string]flood{}
	}
	if !known || now.Sub(count.from) >= floodTime {
		count = flood{from: now}
	}
	count.claims++
	f.counts[nic] = count
	return count.claims == floodClaims
}

// countHello counts a claim by one of its interfaces to be a node, and raises the alarm of a flood: at most once within
// its time. To repeat a claim is none.
func (in *Intake) countHello(ctx context.Context, nic, bearer string) error {
	if token.IsClaim(bearer) || !in.floods.add(nic, in.DB.Now()) {
		return nil
	}
	return in.DB.UpdateOf(ctx, nic, in.unit(func(tx *nodeTx) error {
		if tx.Known() {
			tx.step(admission.Flood{Claims: floodClaims})
		}
		return nil
	}))
}
