// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// twin is node n1 with the further MAC of number 4.
func twin(s *sledd) {
	s.Helper()
	spec := sleddtest.Node(1)
	spec.MACs = []string{address(4)}
	s.admin(http.StatusOK, "PUT", "/v1/nodes/n1", spec)
}

func TestANodeBootsFromAnyOfItsInterfaces(t *testing.T) {
	s := fresh(t)
	twin(s)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	script := s.Ask("GET", "/boot/52-54-00-77-00-04.ipxe", "", "")
	if !strings.Contains(script.Body, "sled.mac="+address(4)+" BOOTIF=01-52-54-00-77-00-04") {
		t.Errorf("the script names another interface: %s", script.Body)
	}
	m := s.Machine(4)
	m.Serial = "LAB-0001"
	m.Fulfil()
	node := s.Node(1)
	if node.Status.Phase != api.Operational || !node.Binding.Satisfied {
		t.Errorf("%+v", node)
	}
	list := as[api.NodeList](t, s.admin(http.StatusOK, "GET", "/v1/nodes", nil))
	if len(list.Items) != 1 {
		t.Errorf("nodes: %+v", list.Items)
	}
	for _, i := range []int{1, 4} {
		if m := s.Machine(i); m.Token != "" {
			t.Errorf("by interface %d it boots the Sled system again", i)
		}
	}
}

func TestAMachineIsOneNodeByWhicheverInterface(t *testing.T) {
	s := fresh(t)
	twin(s)
	s.Declare(2)
	m, other := s.Machine(1), s.Machine(2)
	m.Poll(0)
	by := func(path, token string) int {
		return s.Ask("GET", "/node/v1/"+path+"/plan?run=1", token, "").Status
	}
	for _, c := range []struct {
		path, token string
		want        int
	}{{"52-54-00-77-00-01", m.Token, http.StatusNoContent}, {"52-54-00-77-00-04", m.Token, http.StatusNoContent},
		{"52-54-00-77-00-04", other.Token, http.StatusForbidden}, {"52-54-00-77-00-02", m.Token, http.StatusForbidden},
		{"52-54-00-77-00-05", m.Token, http.StatusForbidden}} {
		if got := by(c.path, c.token); got != c.want {
			t.Errorf("%s: got %d, want %d", c.path, got, c.want)
		}
	}
	s.Claim(4, "boot-2") // it claims beside the incumbent, which came by the other interface
	shown := as[api.Admission](t, s.admin(http.StatusOK, "GET", "/v1/nodes/"+address(4)+"/admission", nil))
	if shown.MAC != address(1) || len(shown.Claims) != 1 || shown.Claims[0].NIC != address(4) {
		t.Errorf("%+v", shown)
	}
}

func TestAMachineThatWasDiscoveredClaimsAgain(t *testing.T) {
	s := fresh(t)
	_, claim := s.Claim(4, "boot-1")
	twin(s)
	if a := s.Ask("GET", "/node/v1/52-54-00-77-00-04/plan", claim, ""); a.Status != http.StatusUnauthorized {
		t.Errorf("the claim of before: %d: %s", a.Status, a.Body)
	}
	if m := s.Machine(4); m.Token == "" || s.Node(1).Status.Phase != api.Booting {
		t.Errorf("%+v", s.Node(1))
	}
}
