// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Progress is held in memory and stored in batches, because a commit for each report would leave no room for the
// starts and ends of steps. A sledd that crashes loses that of the last second: the next report replaces it, and the
// incumbent is silent only after 30 s. Whatever decides something is committed within its request: a report beside
// another claim, one that renews a token, the start and the end of a step. Each sledd stores what it has heard; what is
// older than the newest request of the node in the store is dropped.
const (
	// storeEvery is the time between two batches.
	storeEvery = time.Second
	// batch is the number of nodes in a transaction, which has a condition for each of their records.
	batch = store.MaxOperations / 8
	// reportRate is how many reports a second all working nodes are to send together, within the longest pause.
	reportRate = 500
	// longestPause is that between two reports of a running step: contract/admission.md, Times.
	longestPause = 10
)

// progress is what a node reported of a running step.
type progress struct {
	at    time.Time
	claim string
	sent  report.Report
}

// heard is the newest progress of each node that is not stored yet.
type heard struct {
	mu    sync.Mutex
	nodes map[string]progress
	pause atomic.Int64 // seconds
}

func (h *heard) note(mac string, one progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nodes == nil {
		h.nodes = map[string]progress{}
	}
	h.nodes[mac] = one
}

// take removes the progress of a node.
func (h *heard) take(mac string) progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer delete(h.nodes, mac)
	return h.nodes[mac]
}

// takeAll removes the progress of all nodes.
func (h *heard) takeAll() map[string]progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.nodes
	h.nodes = nil
	return all
}

// Pause is the number of seconds after which a node is to report progress again.
func (in *Intake) Pause() int { return int(max(1, in.heard.pause.Load())) }

// hear takes progress that need not be stored at once. False: it has to be.
func (in *Intake) hear(ctx context.Context, mac, bearer string, sent report.Report) (taken bool, err error) {
	tx, err := in.load(ctx, mac)
	if err != nil {
		return true, err
	}
	if tx.sentAgain(bearer, sent, nil) {
		return true, nil
	}
	undisputed := tx.undisputed()
	record, err := tx.authenticateReport(bearer, sent)
	if err != nil {
		return true, err
	}
	if !undisputed || record.Stale(tx.Now) || tx.Node() == nil {
		return false, nil
	}
	in.heard.note(mac, progress{at: tx.Now, claim: record.Claim, sent: sent})
	return true, nil
}

// undisputed reports whether a word of the incumbent decides nothing: no other claim waits, nobody asks whether it
// lives, and it has the newest generation.
func (tx *nodeTx) undisputed() bool {
	state := tx.Admission()
	return state.Incumbent != nil && state.Incumbent.Asked.IsZero() && len(state.Claims) == 0 &&
		state.Generation == tx.Generation()
}

// recall applies progress that was heard earlier, unless there is none or it no longer holds.
func (tx *nodeTx) recall(one progress) {
	status, incumbent := tx.Status(), tx.Admission().Incumbent
	if one.at.IsZero() || !tx.undisputed() || incumbent.ID != one.claim || status.Run.Number != one.sent.Run ||
		status.Seen.After(one.at) {
		return
	}
	if one.at.Sub(incumbent.Seen) >= recordEvery {
		tx.step(admission.Speak{Claim: admission.Claim{ID: one.claim}})
	}
	status.Seen, status.BootID = one.at, one.sent.Boot
	for _, line := range one.sent.Lines {
		tx.applyProgress(line, one.at)
	}
}

// KeepProgress stores progress until the context ends, and the rest then.
func (in *Intake) KeepProgress(ctx context.Context) {
	ticker := time.NewTicker(storeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			in.StoreProgress(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
		}
		working := 0
		for phase, count := range in.Hub.Phases() {
			if phase.Working() {
				working += count
			}
		}
		in.heard.pause.Store(pauseFor(working))
		in.StoreProgress(ctx)
	}
}

// pauseFor is the pause between two reports of each of so many nodes.
func pauseFor(working int) int64 {
	return min(longestPause, int64((working+reportRate-1)/reportRate))
}

// StoreProgress stores the progress that was heard. What cannot be stored is dropped.
func (in *Intake) StoreProgress(ctx context.Context) {
	all := in.heard.takeAll()
	macs := make([]string, 0, len(all))
	for mac := range all {
		macs = append(macs, mac)
	}
	for chunk := range slices.Chunk(macs, batch) {
		if err := in.storeBatch(ctx, chunk, all); !errors.Is(err, store.ErrChanged) {
			continue
		}
		for _, mac := range chunk { // a request of one of them was first
			_ = in.update(ctx, mac, nil, func(tx *nodeTx) error {
				tx.recall(all[mac])
				return nil
			})
		}
	}
}

func (in *Intake) storeBatch(ctx context.Context, macs []string, all map[string]progress) error {
	nodes, err := in.DB.LoadMany(ctx, macs, nodetx.Core...)
	if err != nil {
		return err
	}
	for _, tx := range nodes {
		(&nodeTx{Tx: tx, in: in}).recall(all[tx.MAC])
	}
	_, err = in.DB.Commit(ctx, nodes...)
	return err
}
