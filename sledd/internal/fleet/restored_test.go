// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// A restore ends what may have ended since the backup: tokens of nodes, operators but admin, rescues.
func TestARestoreEndsWhatABackupBringsBack(t *testing.T) {
	s := sleddtest.Start(t)
	s.Declare(1)
	s.Machine(1)
	if _, err := s.Client().PutRescue(t.Context(), "n1",
		api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Client().PutOperator(t.Context(), api.Operator{Name: "alice", Role: api.Operate}); err != nil {
		t.Fatal(err)
	}
	before := s.Stamp(1, 1, 1)
	ended, err := s.Fleet.Restored(t.Context())
	if err != nil || !slices.Equal(ended, []string{"alice"}) || s.Stamp(1, 1, 1) == before {
		t.Errorf("ended %q, %v, stamp %s", ended, err, s.Stamp(1, 1, 1))
	}
	snapshot, err := s.Fleet.Store.Read(t.Context(), store.Prefix(key.Tokens), store.Prefix(key.Detours),
		store.Prefix(key.Operators))
	if err != nil || len(snapshot.Results[0])+len(snapshot.Results[1]) > 0 || len(snapshot.Results[2]) != 1 {
		t.Errorf("%v, %v", snapshot.Results, err)
	}
	if node := s.Node(1); node.Wait == nil || node.Wait.Kind != api.WaitsForRelease || node.Rescue != nil {
		t.Errorf("%+v", node)
	}
}
