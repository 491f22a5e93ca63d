// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// addressed is node i with a network of one address, on an interface of the node.
func addressed(i int, address string) api.NodeSpec {
	spec := sleddtest.Node(i)
	spec.Network = api.Network(fmt.Sprintf(
		`{"ethernets": {"lan": {"match": {"macaddress": "%s"}, "addresses": ["%s"]}}}`, spec.MAC, address))
	return spec
}

func TestADeclaredNetworkIsRendered(t *testing.T) {
	s := fresh(t)
	spec := addressed(1, "10.0.0.5/24")
	stored := as[api.Node](t, s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", spec))
	if want := `{"ethernets":{"lan":{"addresses":["10.0.0.5/24"],"match":{"macaddress":"` + spec.MAC +
		`"}}},"version":2}`; string(stored.Network) != want {
		t.Errorf("%s, want %s", stored.Network, want)
	}
	again := as[api.Node](t, s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", spec))
	if again.Revision != stored.Revision {
		t.Errorf("the same network is a change: %d, then %d", stored.Revision, again.Revision)
	}
	found := as[api.RenderedNetwork](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/network", nil))
	text := fmt.Sprint(found.Networkd)
	if !strings.Contains(text, "/etc/systemd/network/10-sled-lan.network") ||
		!strings.Contains(text, "Address=10.0.0.5/24") || len(found.NetworkManager) == 0 ||
		len(found.NetplanNetworkd) != 1 || len(found.NetplanNetworkManager) != 1 {
		t.Errorf("%+v", found)
	}
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", sleddtest.Node(1))
	s.admin(http.StatusNotFound, "GET", "/v1/nodes/n1/network", nil)
}

func TestAnAddressIsThatOfOneNode(t *testing.T) {
	s := fresh(t)
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", addressed(1, "10.0.0.5/24"))
	refused := s.admin(http.StatusConflict, "PUT", "/v1/nodes/n2", addressed(2, "10.0.0.5/16")).Body
	if !strings.Contains(refused, "10.0.0.5 is that of node n1 already") {
		t.Error(refused)
	}
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", addressed(1, "10.0.0.6/24"))
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n2", addressed(2, "10.0.0.5/16"))
	s.admin(http.StatusNoContent, "DELETE", "/v1/nodes/n2", nil)
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n3", addressed(3, "10.0.0.5/16"))
	moved := as[api.Node](t, s.admin(http.StatusOK, "POST", "/v1/nodes/n3/replace", api.ReplaceSpec{MAC: address(9)}))
	if !strings.Contains(string(moved.Network), address(9)) {
		t.Error(moved.Network)
	}
	s.admin(http.StatusConflict, "PUT", "/v1/nodes/n2", addressed(2, "10.0.0.5/16"))
}

// imaged binds node 1 with a network to an image, and returns the machine with the plan that it gets.
func imaged(t *testing.T, s *sledd, nic string) (*sleddtest.Machine, string) {
	t.Helper()
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", addressed(1, "10.0.0.5/24"))
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Disk: "serial:LAB-0001"})
	m := s.Machine(1)
	m.Say("facts", "facts 1\nboot "+m.Boot+"\nkernel release=6.1 uptime=0.001\nnic name=eth0 mac="+nic+
		" link=1\ndisk name=vda serial=LAB-0001 bytes=1000\n")
	return m, m.Poll(0)
}

func TestTheSeedHasTheRenderedNetwork(t *testing.T) {
	s := fresh(t)
	m, plan := imaged(t, s, address(1))
	if !strings.Contains(plan, "configure") {
		t.Fatal(plan)
	}
	seed := m.Seed()
	if seed["network"] != "declared\n" || !strings.Contains(seed["networkd/etc/systemd/network/10-sled-lan.network"],
		"Address=10.0.0.5/24") || !strings.Contains(seed["netplan-networkmanager/etc/netplan/90-sled.yaml"], "10.0.0.5/24") {
		t.Error(seed)
	}
}

func TestAMachineWithoutADeclaredInterfaceIsNotWritten(t *testing.T) {
	s := fresh(t)
	if _, plan := imaged(t, s, address(7)); plan != "" {
		t.Errorf("it got a plan: %s", plan)
	}
	status := s.Node(1).Status
	want := "network: this machine has no interface with MAC " + address(1) + "; it has " + address(7)
	if status.Phase != api.Failed || status.Code != api.CodeNotSupported || status.Reason.String() != want {
		t.Errorf("%s, code %d: %s", status.Phase, status.Code, status.Reason)
	}
}
