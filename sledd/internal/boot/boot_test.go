// SPDX-License-Identifier: Apache-2.0

package boot_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
)

func TestLocal(t *testing.T) {
	for _, phase := range append(api.Phases(), "") {
		status := api.Status{Phase: phase, Generation: 3}
		for _, c := range []struct {
			bound boot.Bound
			want  bool
		}{
			{boot.Bound{}, phase == api.Operational || phase == api.Unconfirmed},
			{boot.Bound{Is: true, Generation: 3}, phase == api.Operational || phase == api.Unconfirmed ||
				phase == api.Starting || phase == api.Captured},
			{boot.Bound{Is: true, Generation: 4}, false},
			{boot.Bound{Is: true, Generation: 3, Memory: true}, false},
		} {
			if got := boot.Local(status, c.bound); got != c.want {
				t.Errorf("phase %q, bound %+v, generation 3: local is %v", phase, c.bound, got)
			}
		}
	}
}

func TestScript(t *testing.T) {
	system := boot.System{Flavour: "generic", Servers: []string{"https://a", "https://b"},
		KernelArguments: "console=ttyS0 sled.net=bond=802.3ad,vlan=20"}
	text, err := system.Script("52:54:00:77:00:01", "")
	want := "kernel ${system}/vmlinuz initrd=initrd.img console=ttyS0 sled.net=bond=802.3ad,vlan=20 " +
		"sled.mac=52:54:00:77:00:01 BOOTIF=01-52-54-00-77-00-01 sled.servers=https://a,https://b || "
	if err != nil || !strings.Contains(text, want) ||
		!strings.Contains(text, "set system /sled/generic\n") {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = boot.System{}.Script("52:54:00:77:00:01", "cloud")
	if err != nil || !strings.Contains(text, "set system /sled/cloud\n") ||
		strings.Contains(text, "sled.servers") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestWith(t *testing.T) {
	system := boot.System{Flavour: "generic", KernelArguments: "sled.net=vlan=20"}
	for architecture, folder := range map[string]string{"": "generic", "x86_64": "generic", "arm64": "generic-arm64"} {
		got := system.With("https://b/", "52:54:00:77:00:01", "", architecture)
		want := api.Boot{Kernel: "https://b/sled/" + folder + "/vmlinuz", Initrd: "https://b/sled/" + folder + "/initrd.img",
			Arguments: "sled.net=vlan=20 sled.mac=52:54:00:77:00:01 BOOTIF=01-52-54-00-77-00-01"}
		if got != want {
			t.Errorf("architecture %q: %+v", architecture, got)
		}
	}
}
