// SPDX-License-Identifier: Apache-2.0

// Package audit keeps a record of each change that an operator requested.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// life of a record.
	life = 90 * 24 * time.Hour
	// most records of one operator; the oldest of that operator go first.
	most = 20_000
	// held records at most wait for a store that does not answer.
	held = 1000
	// together records at most are written in one commit.
	together = 100
	// pause between two commits of what waits: it is lost if sledd is killed. The log has it.
	pause = time.Second
	// trimPause is the time between two searches for records that are too old, or too many.
	trimPause = time.Hour
)

// Trail is the record of changes.
type Trail struct {
	store store.Store
	log   *slog.Logger
	now   func() time.Time
	most  int
	turn  chan struct{} // held by who stores records

	mu      sync.Mutex
	waiting []api.AuditRecord
	last    time.Time                     // of a record: each has its own time, which is in its key
	refused map[string][]*api.AuditRecord // of each operator, one for an hour, not stored yet
	added   map[string]int                // records of each operator since the newest trim
}

// New makes a Trail; Run makes it store records.
func New(s store.Store, log *slog.Logger, now func() time.Time) *Trail {
	return &Trail{store: s, log: log, now: now, most: most, turn: make(chan struct{}, 1),
		refused: map[string][]*api.AuditRecord{}, added: map[string]int{}}
}

// Made stores the record of a request that was answered, or that changed something, before it returns. It does so for a
// client that is gone, too. If the store fails, the record waits for the next attempt.
func (t *Trail) Made(ctx context.Context, record api.AuditRecord) error {
	until := t.add(record)
	kept := context.WithoutCancel(ctx)
	limit, bounded := ctx.Deadline()
	if !bounded {
		limit = time.Now().Add(store.Deadline)
	}
	kept, cancel := context.WithDeadline(kept, limit)
	defer cancel()
	if err := t.storeUntil(kept, until); err != nil {
		return &store.UnavailableError{Operation: "this request was carried out, but its audit record is not stored yet",
			Err: err}
	}
	return nil
}

// Failed records a request that failed, and stores the record soon: what it changed is not known.
func (t *Trail) Failed(record api.AuditRecord) { t.add(record) }

// add logs a record, and makes it wait. It returns the time of the record.
func (t *Trail) add(record api.AuditRecord) time.Time {
	t.write("audit", record)
	t.mu.Lock()
	defer t.mu.Unlock()
	record.Time = t.now().UTC().Round(0)
	if !record.Time.After(t.last) {
		record.Time = t.last.Add(1)
	}
	t.last = record.Time
	if t.waiting = append(t.waiting, record); len(t.waiting) > held {
		t.waiting = withoutSurplus(t.waiting)
		t.log.Error("an audit record is lost: the store takes none")
	}
	return record.Time
}

func (t *Trail) write(text string, record api.AuditRecord) {
	t.log.Info(text, "operator", record.Operator, "role", record.Role, "from", record.From, "method", record.Method,
		"path", record.Path, "node", record.Node, "status", record.Status, "via", record.Via, "refused", record.Refused)
}

// withoutSurplus drops the oldest record of the operator with the most.
func withoutSurplus(records []api.AuditRecord) []api.AuditRecord {
	count, largest := map[string]int{}, ""
	for _, record := range records {
		if count[record.Operator]++; count[record.Operator] > count[largest] {
			largest = record.Operator
		}
	}
	at := slices.IndexFunc(records, func(r api.AuditRecord) bool { return r.Operator == largest })
	return slices.Delete(records, at, at+1)
}

// Run stores records until the context ends, and then those that wait.
func (t *Trail) Run(ctx context.Context) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var trimmed time.Time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), store.Deadline)
			defer cancel()
			t.try(t.Store(rest), "store")
			return
		}
		t.try(t.Store(ctx), "store")
		if time.Since(trimmed) > trimPause || t.isFull() {
			t.try(t.Trim(ctx), "trim")
			trimmed = time.Now()
		}
	}
}

func (t *Trail) try(err error, what string) {
	if err != nil {
		t.log.Warn("audit records: "+what, "error", err)
	}
}

// Store writes the records that wait, and the counts of refused requests.
func (t *Trail) Store(ctx context.Context) error {
	t.mu.Lock()
	until := t.last
	t.mu.Unlock()
	if err := t.storeUntil(ctx, until); err != nil {
		return err
	}
	return t.storeRefused(ctx)
}

// storeUntil writes the waiting records up to a time. Those of other requests go along, so that many requests at the
// same time take few commits.
func (t *Trail) storeUntil(ctx context.Context, until time.Time) error {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // is clear alone
	}
	for {
		t.mu.Lock()
		batch := slices.Clone(t.waiting[:min(together, len(t.waiting))])
		t.mu.Unlock()
		if len(batch) == 0 || batch[0].Time.After(until) {
			return nil
		}
		var transaction store.Transaction
		for _, record := range batch {
			text, err := json.Marshal(record)
			if err != nil {
				return fmt.Errorf("audit record: %w", err)
			}
			transaction.Put(name(record), text)
		}
		if _, err := t.store.Commit(ctx, transaction); err != nil {
			return err //nolint:wrapcheck // names the operation
		}
		t.stored(batch)
	}
}

// stored forgets the records of a batch.
func (t *Trail) stored(batch []api.AuditRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) > 0 && !t.waiting[0].Time.After(batch[len(batch)-1].Time) {
		t.waiting = t.waiting[1:]
	}
	for _, record := range batch {
		t.added[record.Operator]++
	}
}

// name is the key of a record. The operator is in it, so that neither of several sledd replaces a record of another
// operator, and Trim need not read values.
func name(record api.AuditRecord) string {
	text := at(record.Time) + "/" + record.Operator
	if record.Refused > 0 {
		text += "/refused"
	}
	return text
}

func at(when time.Time) string { return fmt.Sprintf("%s%019d", key.Audit, when.UnixNano()) }

// isFull reports whether an operator may have many more records than are kept.
func (t *Trail) isFull() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, count := range t.added {
		if count > t.most/10 {
			return true
		}
	}
	return false
}

// Trim deletes the records that are too old, or too many of one operator.
func (t *Trail) Trim(ctx context.Context) error {
	t.mu.Lock()
	t.added = map[string]int{}
	t.mu.Unlock()
	kept, oldest := map[string]int{}, at(t.now().Add(-life))
	var gone []string
	err := t.walk(ctx, true, func(kv store.KV) error {
		parts := strings.Split(strings.TrimPrefix(kv.Key, key.Audit), "/") // time, operator
		if kept[parts[1]]++; kept[parts[1]] > t.most || kv.Key < oldest {
			gone = append(gone, kv.Key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for operator, count := range kept {
		if count > t.most {
			t.log.Warn("the oldest audit records of an operator are deleted", "operator", operator, "kept", t.most,
				"deleted", count-t.most)
		}
	}
	return t.delete(ctx, gone)
}

func (t *Trail) delete(ctx context.Context, keys []string) error {
	for part := range slices.Chunk(keys, store.MaxOperations) {
		var transaction store.Transaction
		for _, old := range part {
			transaction.Delete(old)
		}
		if _, err := t.store.Commit(ctx, transaction); err != nil {
			return err //nolint:wrapcheck // names the operation
		}
	}
	return nil
}
