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

func TestDataDisksAreShownAndHoldUpAnImage(t *testing.T) {
	r := newRack(t)
	spec := api.NodeSpec{MAC: address(1), Name: "n1", Disk: "serial:SYS",
		DataDisks: []api.DataDisk{{Name: "logs", Disk: "serial:DATA", Mount: "/srv/logs"}}}
	declare := func(spec api.NodeSpec) error {
		_, err := r.PutNode(t.Context(), "n1", spec, nodetx.Wanted{})
		return err
	}
	if err := declare(spec); err != nil {
		t.Fatal(err)
	}
	report := func(disks ...map[string]api.Identifier) {
		err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
			tx.Writes.Put(key.Facts+tx.MAC, nodetx.Encode(api.Facts{Disks: disks}))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	verdicts := func(match string) (string, string) {
		shown, err := r.Disks(t.Context(), "n1", match, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, d := range shown.Disks {
			text += d.Serial + ":" + d.Why + ";"
			if d.Chosen != (d.Why == "" && shown.Refused == "") {
				t.Errorf("%s: chosen and %q", d.Serial, d.Why)
			}
		}
		return text, shown.Refused
	}
	report(reported("nvme0n1", "SYS", "1000"), reported("nvme1n1", "DATA", "2000"))
	if text, refused := verdicts(""); text != "SYS:;DATA:data disk logs;" || refused != "" {
		t.Errorf("the usual: %s %s", text, refused)
	}
	if text, refused := verdicts("all"); text != "SYS:;DATA:;" || refused != "" {
		t.Errorf("a tear-down: %s %s", text, refused)
	}
	if _, refused := verdicts("serial:DATA"); !strings.Contains(refused, "is a data disk of the node") {
		t.Errorf("an image on the data disk: %s", refused)
	}
	report(reported("nvme0n1", "SYS", "1000"))
	if _, refused := verdicts(""); !strings.HasPrefix(refused, "data disk logs: disk serial:DATA: no disk matches") {
		t.Errorf("without the data disk: %s", refused)
	}
	spec.DataDisks[0].Mount = "/usr/local"
	r.refused("a part of the system", declare(spec), refusal.Invalid, "part of the installed system")
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
