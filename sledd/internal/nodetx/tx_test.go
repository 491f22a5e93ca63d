// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

const node = "52:54:00:77:00:01"

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fresh is an empty store in memory whose clock stands still.
func fresh() (*nodetx.DB, *storetest.Memory) {
	memory := &storetest.Memory{}
	return &nodetx.DB{Store: memory, Clock: func() time.Time { return now }}, memory
}

func update(t *testing.T, db *nodetx.DB, mac string, change func(tx *nodetx.Tx), wants ...nodetx.Want) {
	t.Helper()
	err := db.Update(t.Context(), mac, wants, func(tx *nodetx.Tx) error {
		change(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, db *nodetx.DB, mac string, wants ...nodetx.Want) *nodetx.Tx {
	t.Helper()
	tx, err := db.Load(t.Context(), mac, wants...)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func keys(t *testing.T, s store.Store) string {
	t.Helper()
	snapshot, err := s.Read(t.Context(), store.Prefix(key.Root))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, kv := range snapshot.Results[0] {
		names = append(names, strings.TrimPrefix(kv.Key, key.Root))
	}
	return strings.Join(names, " ")
}

func TestOnlyWhatChangedIsWritten(t *testing.T) {
	db, memory := fresh()
	update(t, db, node, func(tx *nodetx.Tx) {
		tx.Status().Phase = api.Booting
		tx.SetTokens([]token.Record{{SHA256: "x"}})
		tx.Kexecs().Attempts = 1
		tx.SetDetour(detour.Detour{Run: 7, Rescue: &api.Rescue{}})
		tx.Admission().Generation = 3
	})
	want := "admissions/" + node + " detours/" + node + " kexecs/" + node + " status/" + node + " tokens/" + node
	if got := keys(t, memory); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	before := load(t, db, node)
	update(t, db, node, func(tx *nodetx.Tx) { tx.Enter(api.Booting) })
	if after := load(t, db, node); after.Revision != before.Revision {
		t.Error("nothing changed, and something was written")
	}
	update(t, db, node, func(tx *nodetx.Tx) {
		tx.SetTokens(nil)
		tx.SetDetour(detour.Detour{})
		*tx.Kexecs(), *tx.Status(), *tx.Admission() = nodetx.Kexecs{}, api.Status{}, admission.State{}
	})
	if got := keys(t, memory); got != "" {
		t.Errorf("empty records are left: %s", got)
	}
}

// A detour that ends, whoever ends it, gives the node its phase back; one that is replaced does not.
func TestTheEndOfADetourResumesThePhase(t *testing.T) {
	db, _ := fresh()
	update(t, db, node, func(tx *nodetx.Tx) {
		tx.Status().Phase = api.Operational
		tx.SetDetour(detour.Detour{Run: 7, Rescue: &api.Rescue{}})
		tx.Interrupt(api.UnderRescue)
	})
	update(t, db, node, func(tx *nodetx.Tx) { tx.SetDetour(detour.Detour{Rescue: &api.Rescue{}}) })
	if status := load(t, db, node).Status(); status.Phase != api.UnderRescue || status.Before != api.Operational {
		t.Errorf("replaced: %+v", status)
	}
	update(t, db, node, func(tx *nodetx.Tx) { tx.SetDetour(detour.Detour{Run: 7}) }) // what one leaves that ends by itself
	if tx := load(t, db, node); tx.Detour() != nil || tx.Status().Phase != api.Operational || tx.Status().Before != "" {
		t.Errorf("ended: %+v, %+v", tx.Detour(), tx.Status())
	}
}

func TestEventsGetTimeAndPhase(t *testing.T) {
	db, _ := fresh()
	update(t, db, node, func(tx *nodetx.Tx) {
		tx.AddEvent(api.Event{Kind: "first"})
		tx.Enter(api.Writing)
		tx.AddEvent(api.Event{Kind: "second", Phase: api.Wiping})
	})
	list := load(t, db, node, nodetx.Events(10)).Events()
	if len(list) != 2 || list[0].Kind != "second" || list[0].Phase != api.Wiping || list[1].Phase != api.Writing ||
		list[1].MAC != node {
		t.Fatalf("%+v", list)
	}
	if list[0].Time.Sub(list[1].Time) != 1 {
		t.Errorf("%s after %s", list[0].Time, list[1].Time)
	}
}

func TestACommitOfAnotherIsNotOverwritten(t *testing.T) {
	db, _ := fresh()
	for _, kind := range []struct {
		name   string
		change func(tx *nodetx.Tx)
	}{
		{"node", func(tx *nodetx.Tx) { tx.Declare(api.NodeSpec{Name: fmt.Sprint("n", tx.Revision)}) }},
		{"binding", func(tx *nodetx.Tx) {
			tx.Bind(nodetx.Binding{Binding: api.Binding{Generation: tx.Revision}}, true)
		}},
		{"status", func(tx *nodetx.Tx) { tx.Status().Step = int(tx.Revision) }},
		{"admission", func(tx *nodetx.Tx) { tx.Admission().Boots = int(tx.Revision) }},
		{"detour", func(tx *nodetx.Tx) { tx.SetDetour(detour.Detour{Run: tx.Revision, Rescue: &api.Rescue{}}) }},
	} {
		late := load(t, db, node)
		update(t, db, node, kind.change)
		late.Status().Detail = api.Clean("late " + kind.name)
		if _, err := db.Commit(t.Context(), late); !errors.Is(err, store.ErrChanged) {
			t.Errorf("%s was changed meanwhile: %v", kind.name, err)
		}
	}
	attempts := 0
	update(t, db, node, func(tx *nodetx.Tx) {
		if attempts++; attempts == 1 {
			update(t, db, node, func(tx *nodetx.Tx) { tx.Status().Verb = "other" })
		}
		tx.Status().Step = 5
	})
	if status := load(t, db, node).Status(); attempts != 2 || status.Verb != "other" || status.Step != 5 {
		t.Errorf("%d attempts, %+v", attempts, status)
	}
}

func TestRetryGivesUp(t *testing.T) {
	attempts := 0
	err := nodetx.Retry(t.Context(), func(context.Context) error {
		attempts++
		return store.ErrChanged
	})
	if !refusal.Is(err, refusal.Busy) || attempts != 16 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
	other := errors.New("other")
	if err := nodetx.Retry(t.Context(), func(context.Context) error { return other }); !errors.Is(err, other) {
		t.Error(err)
	}
}

func TestBindAndUnbind(t *testing.T) {
	db, _ := fresh()
	update(t, db, node, func(tx *nodetx.Tx) {
		tx.Bind(nodetx.Binding{Binding: api.Binding{BindingSpec: api.BindingSpec{Image: "d12", UserData: "secret"},
			Generation: 3}}, true)
		tx.Status().Generation, tx.Status().Phase = 3, api.Operational
	})
	tx := load(t, db, node)
	if tx.Generation() != 3 || !tx.Satisfied() || tx.Binding().Revision != tx.RevisionOf(nodetx.BindingOf) ||
		tx.Binding().Revision == 0 {
		t.Errorf("%+v", tx.Binding())
	}
	if shown := tx.Binding().Public(*tx.Status()); shown.UserData != "" || !shown.Satisfied {
		t.Errorf("%+v", shown)
	}
	if !strings.Contains(string(tx.StoredValue(nodetx.BindingOf)), `"revision":0,`) {
		t.Errorf("the revision is stored: %s", tx.StoredValue(nodetx.BindingOf))
	}
	update(t, db, node, func(tx *nodetx.Tx) { tx.Unbind() })
	if tx := load(t, db, node); tx.Binding() != nil || tx.Generation() != 0 || tx.Satisfied() {
		t.Errorf("%+v", tx.Binding())
	}
}

func TestSatisfied(t *testing.T) {
	db, _ := fresh()
	for _, c := range []struct {
		spec   api.BindingSpec
		status api.Status
		want   bool
	}{
		{api.BindingSpec{Image: "d12"}, api.Status{Generation: 1, Phase: api.Operational}, true},
		{api.BindingSpec{Image: "d12"}, api.Status{Generation: 1, Phase: api.Starting}, false},
		{api.BindingSpec{Image: "d12"}, api.Status{Generation: 2, Phase: api.Operational}, false},
		{api.BindingSpec{Image: "d12"}, api.Status{Generation: 1, Phase: api.UnderRescue, Before: api.Operational},
			true},
		{api.BindingSpec{}, api.Status{Generation: 1, Phase: api.Wiped}, true},
		{api.BindingSpec{}, api.Status{Generation: 1, Phase: api.Operational}, false},
		{api.BindingSpec{Capture: "c"}, api.Status{Generation: 1, Phase: api.Captured}, true},
	} {
		tx := load(t, db, node)
		tx.Bind(nodetx.Binding{Binding: api.Binding{BindingSpec: c.spec, Generation: 1}}, false)
		*tx.Status() = c.status
		if tx.Satisfied() != c.want {
			t.Errorf("%+v with %+v: satisfied is %t", c.spec, c.status, !c.want)
		}
	}
}

func TestPagesHoldEveryMACOnce(t *testing.T) {
	db, memory := fresh()
	var change store.Transaction
	for i, prefix := range []string{key.Nodes, key.Status, key.Bindings, key.Detours} {
		for j := range 5 {
			change.Put(fmt.Sprintf("%s52:54:00:77:00:%02x", prefix, i+2*j), []byte(`{}`))
		}
	}
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	var macs []string
	for after, more := "", true; more; {
		var page []*nodetx.Tx
		var err error
		if page, more, err = db.Page(t.Context(), after, 3); err != nil || len(page) > 3 {
			t.Fatalf("%d on a page, %v", len(page), err)
		}
		for _, tx := range page {
			after = tx.MAC
			macs = append(macs, after)
			tx.Public() // reads all that a list shows
		}
	}
	if len(macs) != 12 {
		t.Fatalf("%v", macs)
	}
	for i, mac := range macs {
		if want := fmt.Sprintf("52:54:00:77:00:%02x", i); mac != want {
			t.Errorf("got %s, want %s", mac, want)
		}
	}
}

func TestOutcomesOfKexecsAreCountedOnce(t *testing.T) {
	db, _ := fresh()
	var counted []string
	db.Kexec = func(outcome string) { counted = append(counted, outcome) }
	update(t, db, node, func(tx *nodetx.Tx) { tx.RecordJump(1) }, nodetx.Facts)
	update(t, db, node, func(tx *nodetx.Tx) { tx.SettleJump(nodetx.KexecMissed) })
	update(t, db, node, func(tx *nodetx.Tx) { tx.SettleJump(nodetx.KexecConfirmed) }) // it has an outcome
	update(t, db, node, func(tx *nodetx.Tx) {
		tx.ReopenJump()
		tx.SettleJump(nodetx.KexecConfirmed)
	})
	if got := strings.Join(counted, " "); got != "attempted missed confirmed" {
		t.Error(got)
	}
	if kexecs := load(t, db, node).Kexecs(); kexecs.Attempts != 1 || kexecs.Confirmed != 1 || kexecs.Missed != 0 {
		t.Errorf("%+v", kexecs)
	}
}

func TestAValueThatCannotBeReadIsNoAbsence(t *testing.T) {
	db, memory := fresh()
	var change store.Transaction
	change.Put(key.Bindings+node, []byte("{"))
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	var unavailable *store.UnavailableError
	if _, err := db.Load(t.Context(), node); !errors.As(err, &unavailable) {
		t.Error(err)
	}
	if _, err := db.Resolve(t.Context(), "nobody"); !refusal.Is(err, refusal.NotFound) {
		t.Error(err)
	}
	if mac, err := db.Resolve(t.Context(), "52-54-00-77-00-01"); err != nil || mac != node {
		t.Error(mac, err)
	}
}
