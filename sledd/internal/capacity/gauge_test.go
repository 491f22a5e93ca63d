// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// fake is a store of which only the size is known.
type fake struct {
	mu    sync.Mutex
	usage store.Usage
	heals int
	kept  int64 // revision of the last compaction
	err   error
}

func (f *fake) Compact(_ context.Context, revision int64) error {
	f.kept = revision
	return f.err
}

func (f *fake) Usage(context.Context) (store.Usage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.usage, nil
}

func (f *fake) Heal(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heals++
	if f.err == nil {
		f.usage.InUse, f.usage.Alarms = 1, nil
	}
	return f.err
}

func TestClassesAreRefusedInTurn(t *testing.T) {
	sized := &fake{}
	g := New(sized, slog.New(slog.DiscardHandler))
	for _, c := range []struct {
		inUse            int64
		undeclared, logs bool
		refused          int
	}{{0, true, true, 0}, {500, true, true, 0}, {501, false, true, 2}, {800, false, true, 2}, {801, false, false, 3},
		{1000, false, false, 3}} {
		sized.usage = store.Usage{InUse: c.inUse, Quota: 1000}
		if _, err := g.Usage(t.Context()); err != nil {
			t.Fatal(err)
		}
		for class, want := range map[Class]bool{Undeclared: c.undeclared, Claims: c.undeclared, Logs: c.logs} {
			err := g.Allow(class)
			if (err == nil) != want || err != nil && !refusal.Is(err, refusal.Full) {
				t.Errorf("%d of 1000, %s: %v", c.inUse, names[class], err)
			}
		}
		if refused := g.Refused(); len(refused) != c.refused {
			t.Errorf("%d of 1000: %v are refused", c.inUse, refused)
		}
	}
}

func TestUnknownQuotaRefusesNothing(t *testing.T) {
	g := New(&fake{}, slog.New(slog.DiscardHandler))
	if err := g.Allow(Undeclared); err != nil {
		t.Error(err)
	}
}

func TestWritesCountBeforeTheSizeIsReadAgain(t *testing.T) {
	g := New(&fake{usage: store.Usage{InUse: 400, Quota: 1000}}, slog.New(slog.DiscardHandler))
	if _, err := g.Usage(t.Context()); err != nil {
		t.Fatal(err)
	}
	counted := g.Count(&storetest.Memory{})
	put := func() error {
		_, err := counted.Commit(t.Context(), store.Transaction{Do: []store.Operation{{Key: "k", Value: make([]byte, 99)}}})
		return err
	}
	if err := put(); err != nil || g.Allow(Undeclared) != nil {
		t.Fatalf("at 500: %v, %v", err, g.Allow(Undeclared))
	}
	if err := put(); err != nil || g.Allow(Undeclared) == nil {
		t.Fatalf("at 600 undeclared machines may write, or %v", err)
	}
}

func TestFullStoreIsHealedOnce(t *testing.T) {
	full := store.Usage{InUse: 900, Quota: 1000, Alarms: []string{store.NoSpace}}
	sized := &fake{usage: full}
	g := New(sized, slog.New(slog.DiscardHandler))
	now := time.Now()
	g.now = func() time.Time { return now }
	for _, c := range []struct {
		after time.Duration
		heals int
	}{{0, 1}, {time.Minute, 1}, {2 * time.Hour, 2}} {
		sized.usage, now = full, now.Add(c.after)
		g.healOnce(t.Context())
		if sized.heals != c.heals {
			t.Errorf("after %s: healed %d times, want %d", c.after, sized.heals, c.heals)
		}
	}
	sized.err = errors.New("no")
	if err := g.Heal(t.Context()); err == nil {
		t.Error("a heal that failed is called done")
	}
}

func TestHistoryIsDroppedEarlyWhereMuchIsInUse(t *testing.T) {
	sized := &fake{}
	g := New(sized, slog.New(slog.DiscardHandler))
	now := time.Now()
	g.now = func() time.Time { return now }
	for i, c := range []struct {
		after time.Duration
		inUse int64
		kept  int64 // history since that revision
	}{{0, 900, 0}, {29 * time.Second, 900, 0}, {time.Second, 900, 1}, {29 * time.Second, 900, 1},
		{time.Second, 249, 1}, {30 * time.Second, 250, 5}} {
		now = now.Add(c.after)
		g.relieve(t.Context(), store.Usage{InUse: c.inUse, Quota: 1000, Revision: int64(i) + 1})
		if sized.kept != c.kept {
			t.Errorf("%d: history is kept since revision %d, want %d", i, sized.kept, c.kept)
		}
	}
}

func TestCompactionKeepsWhatIsStored(t *testing.T) {
	etcd := small(t)
	for range 8 {
		if err := write(t.Context(), etcd); err != nil {
			t.Fatal(err)
		}
	}
	before := inUse(t, etcd, func(bytes int64) bool { return bytes > 3<<20 })
	if err := errors.Join(etcd.Compact(t.Context(), before.Revision), etcd.Compact(t.Context(), 1)); err != nil {
		t.Fatal(err)
	}
	inUse(t, etcd, func(bytes int64) bool { return bytes < 1<<20 })
	snapshot, err := etcd.Read(t.Context(), store.Key("/kept"))
	if kv, found := snapshot.One(0); err != nil || !found || len(kv.Value) != 512<<10 {
		t.Errorf("a value was lost: %v", err)
	}
}

// inUse writes until the size of what is in use is as wanted: etcd counts pages when it has written some.
func inUse(t *testing.T, etcd *store.Etcd, wanted func(int64) bool) store.Usage {
	t.Helper()
	for deadline := time.Now().Add(patience.Limit); ; <-time.After(20 * time.Millisecond) {
		_, err := etcd.Commit(t.Context(), store.Transaction{Do: []store.Operation{{Key: "/further"}}})
		if err != nil {
			t.Fatal(err)
		}
		usage, err := etcd.Usage(t.Context())
		if err == nil && wanted(usage.InUse) {
			return usage
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d bytes are in use, %v", usage.InUse, err)
		}
	}
}

// small runs an etcd with little room.
func small(t *testing.T) *store.Etcd {
	t.Helper()
	dir, err := os.MkdirTemp("", "sledd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := store.Embed(t.Context(), store.Embedded{Dir: dir, NoSync: true, Quota: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

// write replaces one key, so that only the history grows.
func write(ctx context.Context, s store.Store) error {
	_, err := s.Commit(ctx, store.Transaction{Do: []store.Operation{{Key: "/kept", Value: make([]byte, 512<<10)}}})
	return err
}

// fill writes until nothing can be written. It pauses, because etcd knows its size only when it has written pages, ten
// times a second.
func fill(t *testing.T, s store.Store) {
	t.Helper()
	patience.Until(t, "8 MiB are full", func() bool {
		err := write(t.Context(), s)
		if err != nil && !errors.Is(err, store.ErrFull) {
			t.Fatal(err)
		}
		return err != nil
	})
}

func TestHealMakesRoom(t *testing.T) {
	etcd := small(t)
	fill(t, etcd)
	usage, err := etcd.Usage(t.Context())
	if err != nil || !slices.Contains(usage.Alarms, store.NoSpace) || usage.Quota != 8<<20 || usage.Bytes < 7<<20 {
		t.Fatalf("%+v, %v", usage, err)
	}
	if err := etcd.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	usage, err = etcd.Usage(t.Context())
	if err != nil || len(usage.Alarms) > 0 || usage.Bytes > 2<<20 {
		t.Errorf("healed: %+v, %v", usage, err)
	}
	snapshot, err := etcd.Read(t.Context(), store.Key("/kept"))
	if kv, found := snapshot.One(0); err != nil || !found || len(kv.Value) != 512<<10 {
		t.Errorf("a value was lost: %v", err)
	}
	if err := write(t.Context(), etcd); err != nil {
		t.Error(err)
	}
}

func TestFullStoreHealsItself(t *testing.T) {
	etcd := small(t)
	g := New(etcd, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { g.Run(ctx) })
	defer running.Wait()
	defer stop()
	s := g.Count(etcd)
	fill(t, s)
	patience.Until(t, "something can be written", func() bool { return write(t.Context(), s) == nil })
}
