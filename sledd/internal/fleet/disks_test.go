// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

func reported(name, serial, bytes string) map[string]api.Identifier {
	return nodetexttest.Facts(map[string]string{"name": name, "serial": serial, "bytes": bytes, "transport": "nvme"})
}

// A disk that was exchanged holds up a description until an operator forgets it.
func TestForgetADisk(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
		tx.Writes.Put(key.Facts+tx.MAC, nodetx.Encode(api.Facts{Disks: []map[string]api.Identifier{
			reported("nvme0n1", "NEW", "1000"), reported("nvme1n1", "DATA", "2000")},
			Missing: []map[string]api.Identifier{reported("nvme0n1", "OLD", "900"), reported("nvme2n1", "LATE", "800")}}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	meant := func() api.NodeDisks {
		disks, err := r.Disks(t.Context(), "n1", "smallest", nil)
		if err != nil {
			t.Fatal(err)
		}
		return disks
	}
	if got := meant(); !strings.Contains(got.Refused, "missing") {
		t.Errorf("while disks are missing: %+v", got)
	}
	for selector, want := range map[string]refusal.Kind{"smallest": refusal.Invalid, "serial": refusal.Invalid,
		"serial:NEW": refusal.NotFound, "serial:old": refusal.NotFound} {
		r.refused(selector, r.ForgetDisk(t.Context(), "n1", selector), want, "")
	}
	r.refused("another node", r.ForgetDisk(t.Context(), "n2", "serial:OLD"), refusal.NotFound, "")
	for _, selector := range []string{"serial:OLD", "serial:LATE"} {
		if got := meant(); !strings.Contains(got.Refused, "missing") {
			t.Errorf("before %s is forgotten: %+v", selector, got)
		}
		if err := r.ForgetDisk(t.Context(), "n1", selector); err != nil {
			t.Fatal(err)
		}
	}
	if got := meant(); got.Refused != "" || got.Planned != "serial:NEW" {
		t.Errorf("once both are forgotten: %+v", got)
	}
	r.refused("again", r.ForgetDisk(t.Context(), "n1", "serial:OLD"), refusal.NotFound, "misses no disk")
}
