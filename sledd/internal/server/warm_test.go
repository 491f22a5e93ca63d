// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// warmed is machine 1, operational with an image, and then bound once more.
func warmed(t *testing.T) (*sledd, *sleddtest.Machine) {
	t.Helper()
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Fulfil()
	s.phase(1, api.Operational)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	return s, m
}

func TestWarmBootIsABoot(t *testing.T) {
	s, m := warmed(t)
	boot, err := s.Client().Boot(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if boot.Kernel != "https://10.77.0.1/sled/generic/vmlinuz" ||
		boot.Initrd != "https://10.77.0.1/sled/generic/initrd.img" ||
		boot.Arguments != "sled.mac=52:54:00:77:00:01 BOOTIF=01-52-54-00-77-00-01 sled.servers=https://10.77.0.1" ||
		!strings.HasPrefix(boot.Ticket, "sledt_525400770001_0_") || time.Until(boot.Expires) < 14*time.Minute {
		t.Errorf("%+v", boot)
	}
	s.phase(1, api.Operational) // until the node is admitted
	m.Enter(boot.Ticket)
	s.phase(1, api.Booting)
	shown := as[api.Admission](t, s.admin(200, "GET", "/v1/nodes/n1/admission", nil))
	if shown.Incumbent == nil || shown.Incumbent.Level != "proven" || shown.Incumbent.By != "ticket" {
		t.Errorf("%+v", shown)
	}
	if plan := m.Poll(0); !strings.Contains(plan, "generation 2 run 2\n") {
		t.Errorf("the plan is %q", plan)
	}
}

// Through the server that ends TLS, the Sled system comes from where the operator asked, by whatever name.
func TestWarmBootComesFromWhereItWasAsked(t *testing.T) {
	s, _ := warmed(t)
	headers := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "boot.example:8443"}
	path := "/v1/nodes/" + address(1) + "/boot"
	a := as[api.Boot](t, s.AskBehind("POST", path, adminToken, "", headers...))
	if a.Kernel != "https://boot.example:8443/sled/generic/vmlinuz" {
		t.Errorf("%+v", a)
	}
	a = as[api.Boot](t, s.admin(200, "POST", path, nil, headers...))
	if a.Kernel != "https://10.77.0.1/sled/generic/vmlinuz" {
		t.Errorf("from elsewhere than the web server in front: %+v", a)
	}
}

// Without firmware nobody but the declaration says which Sled system a machine can start.
func TestWarmBootIsForTheDeclaredArchitecture(t *testing.T) {
	s := fresh(t)
	s.admin(200, "PUT", "/v1/nodes/"+address(1),
		api.NodeSpec{MAC: address(1), Name: "arm", Architecture: "arm64", Flavour: "cloud"})
	a := as[api.Boot](t, s.admin(200, "POST", "/v1/nodes/"+address(1)+"/boot", nil))
	if a.Kernel != "https://10.77.0.1/sled/cloud-arm64/vmlinuz" ||
		a.Initrd != "https://10.77.0.1/sled/cloud-arm64/initrd.img" {
		t.Errorf("%+v", a)
	}
}

func TestWarmBootIsRefused(t *testing.T) {
	s, _ := warmed(t)
	s.refused(404, "POST", "/v1/nodes/n9/boot", nil, "node n9 does not exist")
	s.refused(404, "POST", "/v1/nodes/"+address(9)+"/boot", nil, "is not declared")
	s.Machine(1).Fulfil()
	events, err := s.Client().Events(t.Context(), "n1", 0)
	if err != nil {
		t.Fatal(err)
	}
	s.refused(409, "POST", "/v1/nodes/n1/boot", nil,
		"the binding of node n1 is satisfied (generation 2, phase operational)")
	s.phase(1, api.Operational)
	after, err := s.Client().Events(t.Context(), "n1", 0)
	if err != nil || len(after) != len(events) {
		t.Errorf("%v: a refusal left %d events of %d", err, len(after), len(events))
	}
	reader := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/eve", api.Operator{Name: "eve", Role: api.Read}))
	if a := s.Ask("POST", "/v1/nodes/n1/boot", reader.Token, ""); a.Status != 403 {
		t.Errorf("a reader: %d: %s", a.Status, a.Body)
	}
}
