// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// TestFormerRecordsAreRead: an event as stored when it still had the kind way.
func TestFormerRecordsAreRead(t *testing.T) {
	db, memory := fresh()
	var change store.Transaction
	change.Put(key.Event(node, 1), []byte(`{"time":"2026-01-02T03:00:00Z","mac":"m","kind":"way","detail":"warm"}`))
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	tx := load(t, db, node, nodetx.Events(9))
	if list := tx.Events(); len(list) != 1 || list[0].Kind != "entry" || list[0].Detail.String() != "warm" {
		t.Errorf("%+v", list)
	}
}
