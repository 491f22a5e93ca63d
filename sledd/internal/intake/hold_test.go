// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// A store that was restored gives no plan, and lets every machine boot its disk, until the node is released.
func TestARestoredStoreHoldsPlansBack(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.enter("")
	m.tells()
	var hold store.Transaction
	hold.Put(key.Fleet, nodetx.Encode(nodetx.Identity{UUID: fleetUUID, Epoch: "b" + epochEnd, Held: time.Now()}))
	if _, err := m.memory.Commit(t.Context(), hold); err != nil {
		t.Fatal(err)
	}
	if m.startsSled() {
		t.Error("a bound node that was not imaged yet does not boot its disk")
	}
	if script, err := m.Script(t.Context(), "52:54:00:77:00:99"); err != nil || !script.Local {
		t.Errorf("an unknown machine does not boot its disk: %v", err)
	}
	if got := m.plan(); got != "" {
		t.Errorf("got the plan %s", got)
	}
	if _, err := m.Warm(t.Context(), "n1", "http://s"); err == nil {
		t.Error("it is started without its firmware")
	}
	m.change(func(tx *nodetx.Tx) { tx.Release() })
	if known, own := m.stamps(); known != "" || own != "b/52-54-00-77-00-01/1/1" || !m.startsSled() {
		t.Errorf("released: known %q, stamp %q", known, own)
	}
	m.does(api.Configuring, start(3, "configure"))
	if known, _ := m.stamps(); known != "b/52-54-00-77-00-01/1/1" {
		t.Errorf("a node that was configured since is not held back, and knows its stamp: %q", known)
	}
}
