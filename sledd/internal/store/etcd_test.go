// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

func open(t *testing.T, dir string) *store.Etcd {
	t.Helper()
	etcd, err := store.Embed(store.Embedded{Dir: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return etcd
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

func TestCommitComparesRevisions(t *testing.T) {
	etcd := open(t, t.TempDir())
	defer etcd.Close()
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

func TestConditionOnARangeSeesNewKeys(t *testing.T) {
	etcd := open(t, t.TempDir())
	defer etcd.Close()
	before := put(t, etcd, "/b/1", "x", 0)
	put(t, etcd, "/b/2", "y", 0)
	transaction := store.Transaction{If: []store.Condition{{Key: "/b/", To: store.PrefixEnd("/b/"), Revision: before}}}
	transaction.Delete("/b/1")
	if _, err := etcd.Commit(t.Context(), transaction); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("got %v, want ErrChanged", err)
	}
}

func TestWatchResumesAfterARevision(t *testing.T) {
	etcd := open(t, t.TempDir())
	defer etcd.Close()
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
	if _, err := store.Embed(store.Embedded{Dir: dir}); err == nil {
		t.Fatal("a socket path that is too long was accepted")
	}
}
