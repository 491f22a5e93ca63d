// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

// words is a row of the tests: the values by key.
type words map[string]string

var errWord = errors.New("not a word")

func loadWords(_ string, old *words, fresh []store.Change) (*words, error) {
	row := words{}
	if old != nil {
		row = maps.Clone(*old)
	}
	for _, change := range fresh {
		delete(row, change.Key)
		for _, kv := range change.Found() {
			if string(kv.Value) == "broken" {
				return nil, errWord
			}
			row[kv.Key] = string(kv.Value)
		}
	}
	return &row, nil
}

// world is a store, a mirror of it, and the batches of the watch that were not delivered yet.
type world struct {
	t *testing.T
	*storetest.Memory
	mirror    *Mirror[words]
	batches   []store.Batch
	afterRead func() // of all records, once
	now       time.Time
}

func (w *world) Read(ctx context.Context, queries ...store.Query) (store.Snapshot, error) {
	snapshot, err := w.Memory.Read(ctx, queries...)
	if after := w.afterRead; after != nil && len(queries) > 1 {
		w.afterRead = nil
		after()
	}
	return snapshot, err
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, Memory: &storetest.Memory{}, now: time.Unix(0, 0)}
	w.mirror = New(w, loadWords, "a/", "b/")
	w.mirror.patience, w.mirror.clock = 0, func() time.Time { return w.now }
	return w
}

// set commits words "key=value", or "key" for a key that is deleted.
func (w *world) set(changes ...string) {
	w.t.Helper()
	var t store.Transaction
	batch := store.Batch{}
	for _, change := range changes {
		key, value, kept := strings.Cut(change, "=")
		if kept {
			t.Put(key, []byte(value))
		} else {
			t.Delete(key)
		}
		batch.Changes = append(batch.Changes, store.Change{KV: store.KV{Key: key, Value: []byte(value)}, Deleted: !kept})
	}
	revision, err := w.Commit(w.t.Context(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	batch.Revision = revision
	for i := range batch.Changes {
		batch.Changes[i].Revision = revision
	}
	w.batches = append(w.batches, batch)
}

// deliver gives the mirror all that was committed.
func (w *world) deliver() {
	for _, batch := range w.batches {
		w.mirror.See(batch)
	}
	w.batches = nil
}

// shown returns what a view has, or that there is none.
func (w *world) shown() string {
	w.t.Helper()
	view, err := w.mirror.View(w.t.Context())
	if err != nil {
		return err.Error()
	}
	return text(view, "")
}

func text(view *View[words], after string) string {
	if view == nil {
		return "none"
	}
	var all []string
	for row, err := range view.After(after) {
		if err != nil {
			return err.Error()
		}
		for _, key := range slices.Sorted(maps.Keys(*row.Value)) {
			all = append(all, key+"="+(*row.Value)[key])
		}
	}
	return strings.Join(all, " ")
}

func (w *world) expect(what, want string) {
	w.t.Helper()
	if got := w.shown(); got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}
