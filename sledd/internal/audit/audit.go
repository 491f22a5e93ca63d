// SPDX-License-Identifier: Apache-2.0

// Package audit keeps a record of each change that an operator requested.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// life of a record.
	life = 90 * 24 * time.Hour
	// most records that are kept; the oldest go first.
	most = 20_000
	// held records at most wait for a store that does not answer.
	held = 1000
	// together records at most are written in one commit.
	together = 100
	// pause between two commits: the records of it are lost if sledd is killed. The log has them.
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

	mu      sync.Mutex
	waiting []api.AuditRecord
	last    time.Time // of a record: each has its own time, which is its key
}

// New makes a Trail; Run makes it store records.
func New(s store.Store, log *slog.Logger, now func() time.Time) *Trail {
	return &Trail{store: s, log: log, now: now, most: most}
}

// Add logs a record, and stores it soon.
func (t *Trail) Add(record api.AuditRecord) {
	t.log.Info("audit", "operator", record.Operator, "role", record.Role, "from", record.From, "method", record.Method,
		"path", record.Path, "node", record.Node, "status", record.Status, "via", record.Via)
	t.mu.Lock()
	defer t.mu.Unlock()
	record.Time = t.now().UTC().Round(0)
	if !record.Time.After(t.last) {
		record.Time = t.last.Add(1)
	}
	t.last = record.Time
	if t.waiting = append(t.waiting, record); len(t.waiting) > held {
		t.waiting = t.waiting[1:]
		t.log.Error("an audit record is lost: the store takes none")
	}
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
		if time.Since(trimmed) > trimPause {
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

// Store writes the records that wait.
func (t *Trail) Store(ctx context.Context) error {
	for {
		t.mu.Lock()
		batch := append([]api.AuditRecord{}, t.waiting[:min(together, len(t.waiting))]...)
		t.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		var transaction store.Transaction
		for _, record := range batch {
			text, err := json.Marshal(record)
			if err != nil {
				return fmt.Errorf("audit record: %w", err)
			}
			transaction.Put(name(record.Time), text)
		}
		if _, err := t.store.Commit(ctx, transaction); err != nil {
			return err //nolint:wrapcheck // names the operation
		}
		t.mu.Lock()
		for len(t.waiting) > 0 && !t.waiting[0].Time.After(batch[len(batch)-1].Time) {
			t.waiting = t.waiting[1:]
		}
		t.mu.Unlock()
	}
}

func name(at time.Time) string { return fmt.Sprintf("%s%019d", key.Audit, at.UnixNano()) }

// Trim deletes the records that are too old, or too many.
func (t *Trail) Trim(ctx context.Context) error {
	query := store.Prefix(key.Audit)
	query.KeysOnly = true
	snapshot, err := t.store.Read(ctx, query)
	if err != nil {
		return err //nolint:wrapcheck // names the operation
	}
	keys, end := snapshot.Results[0], name(t.now().Add(-life))
	if surplus := len(keys) - t.most; surplus > 0 {
		end = max(end, keys[surplus].Key)
	}
	if len(keys) == 0 || keys[0].Key >= end {
		return nil
	}
	_, err = t.store.Commit(ctx, store.Transaction{Do: []store.Operation{{Key: key.Audit, Delete: true, To: end}}})
	return err //nolint:wrapcheck // names the operation
}

// Filter selects records. Empty fields select all.
type Filter struct {
	Operator string
	Node     string // as it was named in the request
	Limit    int
}

// List returns the newest records, the oldest first.
func (t *Trail) List(ctx context.Context, filter Filter) ([]api.AuditRecord, error) {
	if err := t.Store(ctx); err != nil {
		return nil, err
	}
	query := store.Prefix(key.Audit)
	query.Descending = true
	if filter.Operator == "" && filter.Node == "" {
		query.Limit = int64(filter.Limit)
	}
	snapshot, err := t.store.Read(ctx, query)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the operation
	}
	list := []api.AuditRecord{}
	for _, kv := range snapshot.Results[0] {
		var record api.AuditRecord
		if err := json.Unmarshal(kv.Value, &record); err != nil {
			return nil, &store.UnavailableError{Operation: "decode " + kv.Key, Err: err}
		}
		if (filter.Operator == "" || record.Operator == filter.Operator) &&
			(filter.Node == "" || record.Node == filter.Node) && len(list) < filter.Limit {
			list = append(list, record)
		}
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, nil
}
