// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	fleetUUID = "99999999-52c1-4f7e-8a54-0b5f6c1e7a54"
	epochEnd  = "0000000-52c1-4f7e-8a54-0b5f6c1e7a54" // of an epoch that is named by its first letter
)

// inEpoch gives the store an epoch, as a restore does.
func (m *machine) inEpoch(epoch string) {
	m.Helper()
	var t store.Transaction
	t.Put(key.Fleet, nodetx.Encode(nodetx.Identity{UUID: fleetUUID, Epoch: epoch + epochEnd}))
	if _, err := m.memory.Commit(m.Context(), t); err != nil {
		m.Fatal(err)
	}
}

// stamps boots, and returns the stamps of the plan: what the store knows of, and its own.
func (m *machine) stamps() (known, own string) {
	m.Helper()
	m.enter("")
	m.tells()
	for _, word := range strings.Fields(m.plan()) {
		if value, is := strings.CutPrefix(word, "known="); is {
			known = strings.TrimPrefix(strings.Replace(value, epochEnd, "", 1), fleetUUID+"/")
		}
		if value, is := strings.CutPrefix(word, "stamp="); is {
			own = strings.TrimPrefix(strings.Replace(value, epochEnd, "", 1), fleetUUID+"/")
		}
	}
	return known, own
}

// A plan names the newest plan that has started to configure a disk, of this epoch alone.
func TestStampsOfPlans(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	expect := func(epoch, wantKnown, wantOwn string) {
		t.Helper()
		m.inEpoch(epoch)
		known, own := m.stamps()
		if known != wantKnown || own != wantOwn {
			t.Errorf("known %q, stamp %q, want %q and %q", known, own, wantKnown, wantOwn)
		}
	}
	expect("a", "a/52-54-00-77-00-01/0/0", "a/52-54-00-77-00-01/1/1")
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Wiping, end(1, "wipe", 0))
	expect("a", "a/52-54-00-77-00-01/0/0", "a/52-54-00-77-00-01/1/2")
	m.does(api.Configuring, start(3, "configure"))
	expect("a", "a/52-54-00-77-00-01/1/2", "a/52-54-00-77-00-01/1/3")
	m.change(func(tx *nodetx.Tx) { tx.Forget() })
	m.bind(2, api.BindingSpec{Image: "d13"})
	expect("a", "a/52-54-00-77-00-01/1/2", "a/52-54-00-77-00-01/2/4")
	expect("b", "b/52-54-00-77-00-01/0/0", "b/52-54-00-77-00-01/2/5")
	m.change(func(tx *nodetx.Tx) { tx.Status().Released = "b" + epochEnd })
	expect("b", "", "b/52-54-00-77-00-01/2/6")
	m.does(api.Configuring, start(3, "configure"))
	expect("b", "b/52-54-00-77-00-01/2/6", "b/52-54-00-77-00-01/2/7")
}
