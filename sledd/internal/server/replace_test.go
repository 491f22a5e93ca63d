// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestAReplacedMachineHasToClaimAgain(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Declare(2)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	_, claim := s.Claim(1, "boot-1")
	boot := s.Polls(1, claim)
	s.Ask("POST", "/node/v1/52-54-00-77-00-01/facts", boot,
		"facts 1\nboot boot-1\ndisk name=vda serial=LAB-0001 bytes=1\n")
	const plan = "/node/v1/52-54-00-77-00-01/plan"
	if a := s.Ask("GET", plan, boot, ""); a.Status != http.StatusOK {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	const path = "/v1/nodes/n1/replace"
	s.admin(http.StatusUnprocessableEntity, "POST", path, api.ReplaceSpec{MAC: "52-54-00-77-00-09"})
	s.admin(http.StatusConflict, "POST", path, api.ReplaceSpec{MAC: address(2)})
	s.admin(http.StatusPreconditionFailed, "POST", path, api.ReplaceSpec{MAC: address(9)}, "If-Match", `"1"`)
	node := as[api.Node](t, s.admin(http.StatusOK, "POST", path, api.ReplaceSpec{MAC: address(9)}))
	if node.MAC != address(9) || node.Binding.Generation != 1 {
		t.Errorf("%+v", node)
	}
	for _, token := range []string{boot, claim} {
		if a := s.Ask("GET", plan, token, ""); a.Status != http.StatusUnauthorized {
			t.Errorf("a token of the old MAC: %d: %s", a.Status, a.Body)
		}
	}
	_, claim = s.Claim(9, "boot-2")
	if boot = s.Polls(9, claim); boot == "" {
		t.Fatal("the new machine is not admitted")
	}
	s.Ask("POST", "/node/v1/52-54-00-77-00-09/facts", boot,
		"facts 1\nboot boot-2\ndisk name=vda serial=LAB-0001 bytes=1\n")
	if a := s.Ask("GET", "/node/v1/52-54-00-77-00-09/plan", boot, ""); a.Status != http.StatusOK {
		t.Errorf("%d: %s", a.Status, a.Body)
	}
	if generation := s.Node(9).Status.Generation; generation != 1 {
		t.Errorf("generation %d", generation)
	}
}
