// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// TestBootOrderIsComparedWithWhatTheSystemSays declares disk; the firmware goes by the network, then by the disk.
func TestBootOrderIsComparedWithWhatTheSystemSays(t *testing.T) {
	s := fresh(t)
	spec := s.Declare(1)
	s.Register("d12")
	s.admin(http.StatusUnprocessableEntity, "PUT", "/v1/nodes/n1",
		map[string]string{"mac": spec.MAC, "name": "n1", "boot_order": "cdrom"})
	spec.BootOrder = "disk"
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", spec)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	if plan := m.Poll(0); !strings.Contains(plan, " grow=last bootorder=disk\n") {
		t.Fatalf("plan: %s", plan)
	}
	install(m)
	told := func() []string {
		var details []string
		for _, event := range as[api.EventList](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/events", nil)).Items {
			if event.Kind == "bootorder" {
				details = append(details, event.Detail.String())
			}
		}
		return details
	}
	m.Say("operational", "operational 1\ngeneration 1\nos boot_id=a boot_order=network boot_current=0002%20UEFI%20PXEv4\n")
	if node := s.Node(1); node.OtherBootOrder() != "network" ||
		node.Status.OS.BootCurrent.String() != "0002 UEFI PXEv4" ||
		!node.Binding.Satisfied {
		t.Errorf("%+v %+v", node, node.Status.OS)
	}
	if got := strings.Join(told(), "\n"); got != "the firmware boots from network first, declared is disk" {
		t.Errorf("events: %q", got)
	}
	m.Say("operational", "operational 1\ngeneration 1\nos boot_id=b boot_order=disk\n")
	if node := s.Node(1); node.OtherBootOrder() != "" || node.Status.OS.BootOrder.String() != "disk" ||
		len(told()) != 1 {
		t.Errorf("%+v, %v", node.Status.OS, told())
	}
}
