// SPDX-License-Identifier: Apache-2.0

// Package mirror holds records of the store in memory, decoded, so that a list of the whole fleet reads nothing. It is
// a cache: it is filled when it is first used, follows the watch of the store, and answers only when it stands at the
// store's revision. Otherwise the caller reads the store.
package mirror

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// patience is how long a request waits for the watch to reach the store's revision, before it reads the store.
	patience = 100 * time.Millisecond
	// fillTime bounds the read that fills it: with the read that follows a failure, an answer comes within 5 s.
	fillTime = 1500 * time.Millisecond
	// pause before it is filled again, after that failed.
	pause = time.Minute
)

// Load decodes a row: what old has, with newer records, at most one of each prefix. It must not change old, which
// others read; nil: there is none.
type Load[T any] func(id string, old *T, fresh []store.Change) (*T, error)

// Mirror holds the records whose keys are one of the prefixes and an ID. The records of an ID are a row.
type Mirror[T any] struct {
	store    store.Store
	load     Load[T]
	prefixes []string
	clock    func() time.Time
	patience time.Duration

	fills sync.Mutex // held by the only request that fills

	mu       sync.Mutex
	state    state
	resets   int
	rows     []*row[T]     // by ID
	revision int64         // at which the rows are those of the store
	missed   []store.Batch // while it is filled
	moved    chan struct{} // closed when the revision rises, or the mirror is emptied
	paused   time.Time     // not filled before
}

type state int

const (
	empty state = iota
	filling
	filled
)

// New makes a Mirror. See must be called with each batch of a watch, and Reset when the watch may have missed any.
func New[T any](s store.Store, load Load[T], prefixes ...string) *Mirror[T] {
	return &Mirror[T]{store: s, load: load, prefixes: prefixes, clock: time.Now, patience: patience,
		moved: make(chan struct{})}
}

// View returns all rows as of a revision that the store had during the call, or a later one; nil: read the store.
func (m *Mirror[T]) View(ctx context.Context) (*View[T], error) {
	if m == nil {
		return nil, nil //nolint:nilnil // no view is no error
	}
	m.mu.Lock()
	before := m.revision
	m.mu.Unlock()
	snapshot, err := m.store.Read(ctx, store.Key(m.prefixes[0]))
	if err != nil {
		return nil, err
	}
	if before > snapshot.Revision { // the store was put back to an earlier state
		m.Reset()
	}
	if !m.fill(ctx) || !m.wait(ctx, snapshot.Revision) {
		return nil, nil //nolint:nilnil // see above
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != filled {
		return nil, nil //nolint:nilnil // see above
	}
	return &View[T]{Revision: m.revision, rows: slices.Clone(m.rows), load: m.load}, nil
}

// wait returns when the mirror has reached a revision, and whether it has.
func (m *Mirror[T]) wait(ctx context.Context, revision int64) bool {
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	for {
		m.mu.Lock()
		reached, moved := m.state == filled && m.revision >= revision, m.moved
		m.mu.Unlock()
		if reached {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// fill reads all records at one revision, unless they are held already. Changes that the watch reports meanwhile are
// applied after it.
func (m *Mirror[T]) fill(ctx context.Context) bool {
	m.fills.Lock()
	defer m.fills.Unlock()
	m.mu.Lock()
	if m.state == filled || m.clock().Before(m.paused) {
		defer m.mu.Unlock()
		return m.state == filled
	}
	m.state = filling
	resets := m.resets
	m.mu.Unlock()
	rows, revision, err := m.read(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.resets != resets:
		return false
	case err != nil:
		m.drop()
		if ctx.Err() == nil {
			m.paused = m.clock().Add(pause)
		}
		return false
	}
	missed := m.missed
	m.state, m.rows, m.revision, m.missed = filled, rows, revision, nil
	for _, batch := range missed {
		m.apply(batch)
	}
	return true
}

// read reads all rows, and their revision.
func (m *Mirror[T]) read(ctx context.Context) ([]*row[T], int64, error) {
	ctx, cancel := context.WithTimeout(ctx, fillTime)
	defer cancel()
	queries := make([]store.Query, len(m.prefixes))
	for i, prefix := range m.prefixes {
		queries[i] = store.Prefix(prefix)
	}
	snapshot, err := m.store.Read(ctx, queries...)
	if err != nil {
		return nil, 0, err
	}
	return m.group(snapshot), snapshot.Revision, nil
}

// group makes rows of the records.
func (m *Mirror[T]) group(snapshot store.Snapshot) []*row[T] {
	byID := map[string]*row[T]{}
	for i, found := range snapshot.Results {
		for _, kv := range found {
			id := strings.TrimPrefix(kv.Key, m.prefixes[i])
			r := byID[id]
			if r == nil {
				r = &row[T]{id: id}
				byID[id] = r
			}
			r.has |= 1 << i
			r.fresh = append(r.fresh, store.Change{KV: kv})
		}
	}
	rows := make([]*row[T], 0, len(byID))
	for _, r := range byID {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *row[T]) int { return cmp.Compare(a.id, b.id) })
	return rows
}

// See takes a batch of the watch.
func (m *Mirror[T]) See(batch store.Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.state {
	case empty:
	case filling:
		m.missed = append(m.missed, batch)
	case filled:
		m.apply(batch)
	}
}

// Reset empties the mirror: changes may have been missed.
func (m *Mirror[T]) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resets++
	m.drop()
}

func (m *Mirror[T]) drop() {
	m.state, m.rows, m.revision, m.missed = empty, nil, 0, nil
	m.signal()
}

func (m *Mirror[T]) signal() {
	close(m.moved)
	m.moved = make(chan struct{})
}

// apply changes rows by what is newer than the mirror. Older changes, which a watch repeats, are in the rows already.
func (m *Mirror[T]) apply(batch store.Batch) {
	if batch.Revision <= m.revision {
		return
	}
	for _, change := range batch.Changes {
		if change.Revision > m.revision {
			m.change(change)
		}
	}
	m.revision = batch.Revision
	m.signal()
}

func (m *Mirror[T]) change(change store.Change) {
	for i, prefix := range m.prefixes {
		id, mine := strings.CutPrefix(change.Key, prefix)
		if !mine {
			continue
		}
		at, found := slices.BinarySearchFunc(m.rows, id, func(r *row[T], id string) int { return cmp.Compare(r.id, id) })
		if !found && change.Deleted {
			return
		}
		if !found {
			m.rows = slices.Insert(m.rows, at, &row[T]{id: id})
		}
		m.rows[at] = m.rows[at].with(i, change)
		if m.rows[at].has == 0 {
			m.rows = slices.Delete(m.rows, at, at+1)
		}
		return
	}
}

// row is the records of an ID. Rows in use are replaced and never changed, except that they are decoded once.
type row[T any] struct {
	id  string
	has uint // a bit for each prefix that has a record

	mu    sync.Mutex
	value *T             // without what is fresh
	fresh []store.Change // not decoded yet
}

// with returns the row with a newer record of prefix i.
func (r *row[T]) with(i int, change store.Change) *row[T] {
	next := &row[T]{id: r.id, has: r.has | 1<<i}
	if change.Deleted {
		next.has &^= 1 << i
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next.value = r.value
	for _, older := range r.fresh {
		if older.Key != change.Key {
			next.fresh = append(next.fresh, older)
		}
	}
	next.fresh = append(next.fresh, change)
	return next
}

func (r *row[T]) get(load Load[T]) (*T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.fresh) > 0 {
		value, err := load(r.id, r.value, r.fresh)
		if err != nil {
			return nil, err
		}
		r.value, r.fresh = value, nil
	}
	return r.value, nil
}

// View is the rows at one revision.
type View[T any] struct {
	Revision int64
	rows     []*row[T]
	load     Load[T]
}

// After yields the rows behind an ID, in order, and whether more follow. They are shared: nobody may change them.
// An error ends it.
func (v *View[T]) After(id string) iter.Seq2[Row[T], error] {
	first, found := slices.BinarySearchFunc(v.rows, id, func(r *row[T], id string) int { return cmp.Compare(r.id, id) })
	if found {
		first++
	}
	return func(yield func(Row[T], error) bool) {
		for i := first; i < len(v.rows); i++ {
			value, err := v.rows[i].get(v.load)
			if !yield(Row[T]{ID: v.rows[i].id, Value: value, More: i < len(v.rows)-1}, err) || err != nil {
				return
			}
		}
	}
}

// Row is one of a view.
type Row[T any] struct {
	ID    string
	Value *T
	More  bool // rows follow
}
