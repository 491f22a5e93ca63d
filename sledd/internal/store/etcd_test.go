// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

func open(t *testing.T, dir string) *store.Etcd {
	t.Helper()
	etcd, err := store.Embed(t.Context(), store.Embedded{Dir: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return etcd
}

// onBoth runs a test on etcd, and on the store in memory that stands for it in other tests.
func onBoth(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Helper()
	t.Run("etcd", func(t *testing.T) {
		etcd := open(t, t.TempDir())
		defer etcd.Close()
		test(t, etcd)
	})
	t.Run("memory", func(t *testing.T) { test(t, &storetest.Memory{}) })
}

func put(t *testing.T, s store.Store, key, value string, revision int64) int64 {
	t.Helper()
	var transaction store.Transaction
	transaction.Unchanged(key, revision)
	transaction.Put(key, []byte(value))
	revision, err := s.Commit(t.Context(), transaction)
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return revision
}

func TestCommitComparesRevisions(t *testing.T) { onBoth(t, commitComparesRevisions) }

func commitComparesRevisions(t *testing.T, etcd store.Store) {
	t.Helper()
	first := put(t, etcd, "/a", "1", 0)
	var late store.Transaction
	late.Unchanged("/a", 0)
	late.Put("/a", []byte("lost"))
	if _, err := etcd.Commit(t.Context(), late); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("second creation: got %v, want ErrChanged", err)
	}
	second := put(t, etcd, "/a", "2", first)
	snapshot, err := etcd.Read(t.Context(), store.Key("/a"), store.Key("/none"))
	if err != nil {
		t.Fatal(err)
	}
	kv, ok := snapshot.One(0)
	if !ok || string(kv.Value) != "2" || kv.Revision != second {
		t.Fatalf("got %q at %d, want 2 at %d", kv.Value, kv.Revision, second)
	}
	if _, ok := snapshot.One(1); ok {
		t.Fatal("a key that was never written exists")
	}
}

func TestKeysWithALifeEnd(t *testing.T) {
	etcd := open(t, t.TempDir())
	defer etcd.Close()
	transaction := store.Transaction{Life: time.Second}
	transaction.Put("/short", []byte("1"))
	if _, err := etcd.Commit(t.Context(), transaction); err != nil {
		t.Fatal(err)
	}
	put(t, etcd, "/long", "1", 0)
	patience.Until(t, "the key with a life is deleted", func() bool {
		snapshot, err := etcd.Read(t.Context(), store.Key("/short"), store.Key("/long"))
		if err != nil {
			t.Fatal(err)
		}
		if _, found := snapshot.One(1); !found {
			t.Fatal("the other key is gone")
		}
		_, found := snapshot.One(0)
		return !found
	})
}

func TestConditionOnARangeSeesNewKeys(t *testing.T) { onBoth(t, conditionOnARangeSeesNewKeys) }

func conditionOnARangeSeesNewKeys(t *testing.T, etcd store.Store) {
	t.Helper()
	before := put(t, etcd, "/b/1", "x", 0)
	put(t, etcd, "/b/2", "y", 0)
	transaction := store.Transaction{If: []store.Condition{{Key: "/b/", To: store.PrefixEnd("/b/"), Revision: before}}}
	transaction.Delete("/b/1")
	if _, err := etcd.Commit(t.Context(), transaction); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("got %v, want ErrChanged", err)
	}
}

func TestWatchResumesAfterARevision(t *testing.T) { onBoth(t, watchResumesAfterARevision) }

func watchResumesAfterARevision(t *testing.T, etcd store.Store) {
	t.Helper()
	after := put(t, etcd, "/w/1", "old", 0)
	put(t, etcd, "/w/2", "new", 0)
	ctx, cancel := context.WithCancel(t.Context())
	var keys []string
	err := etcd.Watch(ctx, "/w/", after, func(batch store.Batch) {
		for _, change := range batch.Changes {
			keys = append(keys, change.Key)
		}
		cancel()
	})
	if err != nil || len(keys) != 1 || keys[0] != "/w/2" {
		t.Fatalf("got %v, %v; want only /w/2", keys, err)
	}
}

func TestReadsAreBoundedAndSorted(t *testing.T) { onBoth(t, readsAreBoundedAndSorted) }

func readsAreBoundedAndSorted(t *testing.T, etcd store.Store) {
	t.Helper()
	for _, name := range []string{"/r/2", "/r/1", "/r/3", "/s/1"} {
		put(t, etcd, name, name, 0)
	}
	var removal store.Transaction
	removal.Do = append(removal.Do, store.Operation{Key: "/r/3", Delete: true, To: store.PrefixEnd("/r/")})
	last, err := etcd.Commit(t.Context(), removal)
	if err != nil {
		t.Fatal(err)
	}
	newest := store.Prefix("/r/")
	newest.Limit, newest.Descending = 1, true
	changed := store.Prefix("/")
	changed.MinRevision, changed.KeysOnly = last-3, true
	snapshot, err := etcd.Read(t.Context(), store.Prefix("/r/"), newest, changed)
	if err != nil || snapshot.Revision != last {
		t.Fatalf("%v, revision %d, want %d", err, snapshot.Revision, last)
	}
	for i, want := range []string{"/r/1 /r/2", "/r/2", "/r/1 /s/1"} {
		var keys []string
		for _, kv := range snapshot.Results[i] {
			keys = append(keys, kv.Key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("query %d: got %s, want %s", i, got, want)
		}
	}
	if values := snapshot.Results[2]; len(values[0].Value) != 0 {
		t.Errorf("keys only, got value %q", values[0].Value)
	}
}

func TestTransactionsThatAreRefused(t *testing.T) { onBoth(t, transactionsThatAreRefused) }

func transactionsThatAreRefused(t *testing.T, etcd store.Store) {
	t.Helper()
	var many, twice, both store.Transaction
	for i := range store.MaxOperations + 1 {
		many.Put(fmt.Sprintf("/m/%d", i), nil)
	}
	twice.Put("/t", nil)
	twice.Put("/t", nil)
	both.Delete("/t")
	both.Put("/t", nil)
	for _, transaction := range []store.Transaction{many, twice, both} {
		var unavailable *store.UnavailableError
		if _, err := etcd.Commit(t.Context(), transaction); !errors.As(err, &unavailable) {
			t.Errorf("%d operations: got %v, want an UnavailableError", len(transaction.Do), err)
		}
	}
	queries := make([]store.Query, store.MaxOperations+1)
	for i := range queries {
		queries[i] = store.Key("/m")
	}
	if snapshot, err := etcd.Read(t.Context(), queries...); err == nil {
		t.Errorf("%d queries: got %v", len(queries), snapshot)
	}
}

// Each read sees what was committed before it, by whomever.
func TestReadsSeeWhatWasCommitted(t *testing.T) { onBoth(t, readsSeeWhatWasCommitted) }

func readsSeeWhatWasCommitted(t *testing.T, s store.Store) {
	t.Helper()
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for range 50 {
				var transaction store.Transaction
				transaction.Put(fmt.Sprintf("/c/%d", writer), []byte("x"))
				written, err := s.Commit(t.Context(), transaction)
				if err != nil {
					t.Error(err)
					return
				}
				snapshot, err := s.Read(t.Context(), store.Prefix("/c/"))
				if err != nil || snapshot.Revision < written {
					t.Errorf("read at revision %d after a commit of %d: %v", snapshot.Revision, written, err)
				}
			}
		})
	}
	writers.Wait()
}

func TestDataOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	etcd := open(t, dir)
	put(t, etcd, "/kept", "yes", 0)
	if err := etcd.Close(); err != nil {
		t.Fatal(err)
	}
	etcd = open(t, dir)
	defer etcd.Close()
	snapshot, err := etcd.Read(t.Context(), store.Prefix("/"))
	if err != nil || len(snapshot.Results[0]) != 1 {
		t.Fatalf("got %v, %v; want the one key", snapshot.Results, err)
	}
}

func TestUnreachableStoreFailsInTime(t *testing.T) {
	etcd, err := store.Dial([]string{"http://127.0.0.1:1"}, store.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	begin := time.Now()
	_, err = etcd.Read(t.Context(), store.Key("/a"))
	var unavailable *store.UnavailableError
	if !errors.As(err, &unavailable) {
		t.Fatalf("got %v, want an UnavailableError", err)
	}
	t.Logf("failed after %s", time.Since(begin))
}

func TestEmbedRefusesALongPath(t *testing.T) {
	dir := t.TempDir()
	for len(dir) < 110 {
		dir += "/aaaaaaaaaaaaaaaaaaaa"
	}
	if _, err := store.Embed(t.Context(), store.Embedded{Dir: dir}); err == nil {
		t.Fatal("a socket path that is too long was accepted")
	}
}

// Who is woken by a change reads the store at once.
func TestAReadFindsWhatAWatchShows(t *testing.T) {
	const writers, changes, readers = 4, 500, 4
	etcd := open(t, t.TempDir())
	defer etcd.Close()
	start := put(t, etcd, "/start", "", 0)
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			revision := int64(0)
			for range changes {
				revision = put(t, etcd, fmt.Sprintf("/a/%d", i), "x", revision)
			}
		})
	}
	for range readers { // which the end of a change waits for
		running.Go(func() {
			for ctx.Err() == nil {
				_, _ = etcd.Read(ctx, store.Prefix("/a/"))
			}
		})
	}
	seen := 0
	err := etcd.Watch(ctx, "/a/", start, func(batch store.Batch) {
		snapshot, err := etcd.Read(t.Context(), store.Key("/start"))
		if err != nil || snapshot.Revision < batch.Revision {
			t.Errorf("a read has revision %d, a watch %d: %v", snapshot.Revision, batch.Revision, err)
		}
		if seen += len(batch.Changes); seen == writers*changes {
			end()
		}
	})
	running.Wait()
	if err != nil {
		t.Fatal(err)
	}
}
