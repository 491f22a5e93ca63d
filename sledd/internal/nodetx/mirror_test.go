// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// rows returns all rows as they are shown, in pages.
func rows(t *testing.T, db *nodetx.DB, page int) string {
	t.Helper()
	var all strings.Builder
	after, more := "", true
	for more {
		shown := 0
		next, err := db.Walk(t.Context(), after, int64(page), func(tx *nodetx.Tx) bool {
			text, err := json.Marshal([]any{tx.MAC, tx.Known(), tx.Public(), tx.Admission(), tx.RevisionOf(nodetx.BindingOf)})
			if err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(&all, "%s\n", text)
			shown++
			return shown < page
		})
		if err != nil {
			t.Fatal(err)
		}
		if shown > page || next != "" && shown < page {
			t.Fatalf("%d rows of a page of %d, next %q", shown, page, next)
		}
		after, more = next, next != ""
	}
	return all.String()
}

// A walk over the mirror shows what a walk over the store does, after any change.
func TestAMirroredWalkIsThatOfTheStore(t *testing.T) {
	s := sleddtest.Start(t)
	s.Hall(200, now)
	mirrored, plain := s.Fleet.DB, &nodetx.DB{Store: s.Fleet.Store}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		name := fmt.Sprintf("storage-hall-b-row-00-rack-%03d-unit-%02d", random.IntN(5), random.IntN(30))
		if random.IntN(10) == 0 {
			name = "no-such-node"
		}
		switch random.IntN(4) {
		case 0:
			_ = s.Client().DeleteNode(t.Context(), name)
		case 1:
			_, _ = s.Client().PutBinding(t.Context(), api.BindingSpec{Node: name, Owner: "terraform:hall-b/storage",
				Image: "debian-12-bookworm-hardened-2026-10-30"})
		case 2:
			_ = s.Client().DeleteBinding(t.Context(), name, api.TakeOver())
		case 3:
			s.Declare(1000 + random.IntN(10))
		}
		page := 1 + random.IntN(300)
		if got, want := rows(t, mirrored, page), rows(t, plain, page); got != want || want == "" {
			t.Fatalf("page of %d:\n%s\nthe store has\n%s", page, got, want)
		}
	}
	models, err := mirrored.Models(t.Context())
	stored, errStored := plain.Models(t.Context())
	if fmt.Sprint(models) != fmt.Sprint(stored) || len(models) < 100 || err != nil || errStored != nil {
		t.Errorf("%v, %v\n%v, %v", models, err, stored, errStored)
	}
}

// Lists are read while nodes change, also those that share what has not changed.
func TestWalksAndChangesAtOnce(t *testing.T) {
	s := sleddtest.Start(t)
	s.Hall(80, now)
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			for range 20 {
				rows(t, s.Fleet.DB, 50)
			}
		})
	}
	for i := range 40 {
		var change store.Transaction
		for k := range 80 {
			status := api.Status{Phase: api.Writing, Generation: int64(i)}
			change.Put(nodetx.KeyOf(nodetx.Status, sleddtest.MAC(k)), nodetx.Encode(status))
		}
		if _, err := s.Fleet.Store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	running.Wait()
}

// A sledd shows at once what another one on the same store has stored, also after it was away.
func TestListsOfSeveralSleddsAgree(t *testing.T) {
	one := sleddtest.Start(t)
	other := sleddtest.StartWith(t, sleddtest.Options{Store: one.Fleet.Store})
	listed := func() string {
		nodes, err := api.Collect(other.Client().Nodes(t.Context(), api.Filter{}))
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(nodes))
		for i, node := range nodes {
			names[i] = node.Name
		}
		return strings.Join(names, " ")
	}
	want := ""
	for i := range 30 {
		if i == 15 {
			other.Stop()
			one.Declare(100)
			other.Resume()
			if err := one.Client().DeleteNode(t.Context(), "n100"); err != nil {
				t.Fatal(err)
			}
		}
		want = strings.TrimSpace(want + " " + one.Declare(i).Name)
		if got := listed(); got != want {
			t.Fatalf("it lists %q, want %q", got, want)
		}
	}
}
