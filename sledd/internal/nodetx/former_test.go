// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// TestFormerRecordsAreRead: an event and a rescue as stored when they still had the kind way and the field begun.
func TestFormerRecordsAreRead(t *testing.T) {
	db, memory := fresh()
	var change store.Transaction
	change.Put(key.Event(node, 1), []byte(`{"time":"2026-01-02T03:00:00Z","mac":"m","kind":"way","detail":"warm"}`))
	change.Put(key.Rescues+node, []byte(`{"authorized_keys":["a"],"begun":"2026-01-02T03:04:05Z","number":7}`))
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	tx := load(t, db, node, nodetx.Events(9))
	if list := tx.Events(); len(list) != 1 || list[0].Kind != "entry" || list[0].Detail.String() != "warm" {
		t.Errorf("%+v", list)
	}
	if rescue := tx.Rescue(); !rescue.Started.Equal(now) || rescue.Number != 7 || len(rescue.AuthorizedKeys) != 1 {
		t.Errorf("%+v", rescue)
	}
}
