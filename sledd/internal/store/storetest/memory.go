// SPDX-License-Identifier: Apache-2.0

// Package storetest is a store in memory, for tests of what stands on a store.
package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Memory is a store.Store that holds every revision in memory. The zero value is empty and ready.
type Memory struct {
	mu       sync.Mutex
	revision int64
	keys     map[string]store.KV
	order    []string // the keys, sorted
	history  []store.Batch
	changed  chan struct{} // closed by the next commit
	hook     atomic.Pointer[func(call string) error]
}

var _ store.Store = (*Memory)(nil)

// Hooked is an empty store that calls a function as Before describes it.
func Hooked(do func(call string) error) *Memory {
	m := &Memory{}
	m.Before(do)
	return m
}

// Before has a function called at the start of each Read and Commit, without a lock; its error is returned to the
// caller. Nil ends that. It may be called while the store is in use.
func (m *Memory) Before(do func(call string) error) { m.hook.Store(&do) }

func (m *Memory) before(call string) error {
	if do := m.hook.Load(); do != nil && *do != nil {
		return (*do)(call)
	}
	return nil
}

// Read implements store.Store.
func (m *Memory) Read(ctx context.Context, queries ...store.Query) (store.Snapshot, error) {
	if err := m.before("read"); err != nil {
		return store.Snapshot{}, err
	}
	if err := ctx.Err(); err != nil {
		return store.Snapshot{}, &store.UnavailableError{Operation: "read " + queries[0].Key, Err: err}
	}
	if len(queries) > store.MaxOperations {
		return store.Snapshot{}, &store.UnavailableError{Operation: "read " + queries[0].Key, Err: errTooMany}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	snapshot := store.Snapshot{Revision: max(m.revision, 1), Results: make([][]store.KV, len(queries))}
	for i, query := range queries {
		snapshot.Results[i] = m.query(query)
	}
	return snapshot, nil
}

func (m *Memory) query(query store.Query) []store.KV {
	var found []store.KV
	for _, key := range m.within(query.Key, query.To) {
		kv := m.keys[key]
		if kv.Revision < query.MinRevision {
			continue
		}
		if query.KeysOnly {
			kv.Value = nil
		}
		found = append(found, kv)
	}
	if query.MinRevision > 0 {
		slices.SortStableFunc(found, func(a, b store.KV) int { return int(a.Revision - b.Revision) })
	} else if query.Descending {
		slices.Reverse(found)
	}
	if query.Limit > 0 && int64(len(found)) > query.Limit {
		found = found[:query.Limit]
	}
	return found
}

// within returns the keys of a range in order, or the one key if it exists.
func (m *Memory) within(from, to string) []string {
	first, found := slices.BinarySearch(m.order, from)
	switch to {
	case "":
		if !found {
			return nil
		}
		return m.order[first : first+1]
	case "\x00":
		return m.order[first:]
	}
	end, _ := slices.BinarySearch(m.order, to)
	return m.order[first:max(first, end)]
}

func within(key, from, to string) bool {
	if to == "" {
		return key == from
	}
	return key >= from && (key < to || to == "\x00")
}

// Commit implements store.Store.
func (m *Memory) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	if err := m.before("commit"); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, &store.UnavailableError{Operation: "commit", Err: err}
	}
	if err := check(t); err != nil {
		return 0, &store.UnavailableError{Operation: "commit", Err: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, condition := range t.If {
		if !m.holds(condition) {
			return 0, store.ErrChanged
		}
	}
	if m.keys == nil {
		m.keys, m.revision = map[string]store.KV{}, 1
	}
	m.revision++
	batch := store.Batch{Revision: m.revision}
	for _, operation := range t.Do {
		batch.Changes = append(batch.Changes, m.change(operation)...)
	}
	m.history = append(m.history, batch)
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
	return m.revision, nil
}

var (
	errTooMany = errors.New("too many operations in one transaction")
	errTwice   = errors.New("a key is changed twice in one transaction")
)

// check refuses the transactions that etcd refuses.
func check(t store.Transaction) error {
	if max(len(t.If), len(t.Do)) > store.MaxOperations {
		return errTooMany
	}
	put := map[string]bool{}
	for _, operation := range t.Do {
		if !operation.Delete && put[operation.Key] {
			return errTwice
		}
		put[operation.Key] = put[operation.Key] || !operation.Delete
	}
	for _, operation := range t.Do {
		for key := range put {
			if operation.Delete && put[key] && within(key, operation.Key, operation.To) {
				return errTwice
			}
		}
	}
	return nil
}

func (m *Memory) holds(condition store.Condition) bool {
	if condition.To == "" {
		return m.keys[condition.Key].Revision == condition.Revision
	}
	return !slices.ContainsFunc(m.within(condition.Key, condition.To), func(key string) bool {
		return m.keys[key].Revision > condition.Revision
	})
}

func (m *Memory) change(operation store.Operation) []store.Change {
	if !operation.Delete {
		kv := store.KV{Key: operation.Key, Value: slices.Clone(operation.Value), Revision: m.revision}
		m.keys[kv.Key] = kv
		if at, found := slices.BinarySearch(m.order, kv.Key); !found {
			m.order = slices.Insert(m.order, at, kv.Key)
		}
		return []store.Change{{KV: kv}}
	}
	var changes []store.Change
	gone := m.within(operation.Key, operation.To)
	for _, key := range gone {
		delete(m.keys, key)
		changes = append(changes, store.Change{KV: store.KV{Key: key, Revision: m.revision}, Deleted: true})
	}
	if len(gone) > 0 {
		at, _ := slices.BinarySearch(m.order, gone[0])
		m.order = slices.Delete(m.order, at, at+len(gone))
	}
	return changes
}

// Compact forgets the history of all revisions so far: a watch from one of them fails.
func (m *Memory) Compact() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history = nil
}

// Watch implements store.Store.
func (m *Memory) Watch(ctx context.Context, prefix string, after int64, see func(store.Batch)) error {
	for {
		batches, changed, err := m.since(prefix, after)
		if err != nil {
			return err
		}
		for _, batch := range batches {
			see(batch)
			after = batch.Revision
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// since returns what happened under a prefix after a revision, and a channel that is closed by the next commit.
func (m *Memory) since(prefix string, after int64) ([]store.Batch, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.revision + 1 - int64(len(m.history)) // revision of the oldest batch
	if after+1 < first && first > 2 {
		return nil, nil, &store.CompactedError{Revision: first - 1}
	}
	var batches []store.Batch
	for _, batch := range m.history[min(max(after+1-first, 0), int64(len(m.history))):] {
		mine := store.Batch{Revision: batch.Revision}
		for _, change := range batch.Changes {
			if strings.HasPrefix(change.Key, prefix) {
				mine.Changes = append(mine.Changes, change)
			}
		}
		if batch.Revision > after && len(mine.Changes) > 0 {
			batches = append(batches, mine)
		}
	}
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return batches, m.changed, nil
}

// Close implements store.Store.
func (*Memory) Close() error { return nil }
