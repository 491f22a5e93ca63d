// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/double"
	operators "github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

const (
	restoredNodes = 40
	moments       = 20
)

// watched takes a backup after some of the commits.
type watched struct {
	*store.Etcd
	t       *testing.T
	mu      sync.Mutex
	commits int
	at      map[int]bool
	backups [][]byte
}

func (w *watched) Commit(ctx context.Context, change store.Transaction) (int64, error) {
	revision, err := w.Etcd.Commit(ctx, change)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.commits++; w.at[w.commits] {
		w.backups = append(w.backups, backup(w.t, w.Etcd))
	}
	return revision, err //nolint:wrapcheck // a store
}

func backup(t *testing.T, etcd *store.Etcd) []byte {
	snapshot, err := etcd.Backup(context.Background())
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = snapshot.Close() }()
	text, err := io.ReadAll(snapshot)
	if err != nil {
		t.Error(err)
	}
	return text
}

func embed(t *testing.T, dir string) *store.Etcd {
	t.Helper()
	etcd, err := store.Embed(t.Context(), store.Embedded{Dir: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

// short is a directory whose path is short enough for a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sled")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// rollOut images nodes from nothing, and returns backups of seeded moments of that. disks is where the disks are.
func rollOut(t *testing.T, disks string) [][]byte {
	t.Helper()
	w := &watched{Etcd: embed(t, short(t)), t: t}
	s := sleddtest.StartWith(t, sleddtest.Options{Store: w})
	s.Register("d12")
	macs := make([]string, restoredNodes)
	for i := range macs {
		macs[i] = sleddtest.MAC(i + 1)
		name := s.Declare(i + 1).Name
		s.Bind(api.BindingSpec{Node: name, Image: "d12", Disk: "only"})
	}
	random := rand.New(rand.NewPCG(41, 3))
	w.mu.Lock()
	w.at = map[int]bool{}
	for len(w.at) < moments {
		w.at[w.commits+1+random.IntN(restoredNodes*10)] = true
	}
	w.mu.Unlock()
	all := double.Fleet{Dir: disks, History: io.Discard, Settings: double.Settings{Server: s.URL}}
	if err := all.Run(t.Context(), macs); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	return w.backups
}

// powered switches all machines on, waits until each satisfies the condition, and switches them off.
func powered(t *testing.T, s *sleddtest.Sledd, disks, what string, done func(i int, console string) bool) {
	t.Helper()
	ctx, cut := context.WithCancel(t.Context())
	var running sync.WaitGroup
	consoles := make([]ctltest.Buffer, restoredNodes)
	for i := range consoles {
		m := &double.Machine{Dir: disks, MAC: sleddtest.MAC(i + 1), Settings: double.Settings{Server: s.URL}}
		running.Go(func() { _ = m.Run(ctx, &consoles[i]) })
	}
	for i := range consoles {
		patience.Until(t, fmt.Sprintf("n%d: %s", i+1, what), func() bool { return done(i, consoles[i].String()) })
	}
	cut()
	running.Wait()
}

// disk is what is on the disk of a machine.
func disk(t *testing.T, disks string, i int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(disks, strings.ReplaceAll(sleddtest.MAC(i+1), ":", "-")+".disk"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func runsItsDisk(_ int, console string) bool { return strings.Contains(console, "runs its disk") }

// A store that is restored from a backup of any moment of a rollout touches no disk until the node is released, and the
// list of what would be lost is right.
func TestABackupOfAnyMomentTouchesNoDisk(t *testing.T) {
	disks := t.TempDir()
	backups := rollOut(t, disks)
	if len(backups) != moments {
		t.Fatalf("%d backups, want %d", len(backups), moments)
	}
	lost, kept := 0, 0
	for moment, text := range backups {
		t.Run(fmt.Sprint(moment), func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "disks")
			if err := os.CopyFS(copied, os.DirFS(disks)); err != nil {
				t.Fatal(err)
			}
			wiped := restoreOne(t, text, copied)
			lost, kept = lost+wiped, kept+restoredNodes-wiped
		})
	}
	t.Logf("%d nodes would have been imaged again, %d not", lost, kept)
	if lost == 0 || kept == 0 {
		t.Error("the backups are not of moments in the middle")
	}
}

// restoreOne restores a backup, and returns how many nodes are imaged again once all are released.
func restoreOne(t *testing.T, text []byte, disks string) (wiped int) {
	t.Helper()
	dir := short(t)
	if err := store.Unpack(dir, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	etcd := embed(t, dir)
	restored := &operators.Fleet{DB: &nodetx.DB{Store: etcd}}
	if _, err := restored.Restored(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(time.Hour) } // incumbents of the backup are silent
	s := sleddtest.StartWith(t, sleddtest.Options{Store: etcd, Now: later})
	before := make([]string, restoredNodes)
	for i := range before {
		before[i] = disk(t, disks, i)
	}
	powered(t, s, disks, "it boots its disk", runsItsDisk)
	lost := make([]bool, restoredNodes)
	for i := range before {
		if disk(t, disks, i) != before[i] {
			t.Errorf("the disk of n%d was touched", i+1)
		}
		name := fmt.Sprintf("n%d", i+1)
		shown, err := s.Client().Release(t.Context(), api.ReleaseSpec{Nodes: []string{name}}, api.DryRun())
		if err != nil || len(shown) != 1 || s.Node(i+1).Wait == nil || s.Node(i+1).Wait.Kind != api.WaitsForRelease {
			t.Fatalf("%s: %+v, %v", name, shown, err)
		}
		if lost[i] = shown[0].Wipes != ""; lost[i] {
			wiped++
		}
		if _, err := s.Client().Release(t.Context(), api.ReleaseSpec{Nodes: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
	powered(t, s, disks, "it does what the list says", func(i int, console string) bool {
		if lost[i] {
			return s.Node(i+1).Status.Phase == api.Operational
		}
		return runsItsDisk(i, console)
	})
	for i := range before {
		if touched := disk(t, disks, i) != before[i]; touched != lost[i] {
			t.Errorf("n%d was released: its disk was touched %t, listed %t", i+1, touched, lost[i])
		}
	}
	return wiped
}
