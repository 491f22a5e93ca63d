// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestReimageKeepsTheDesiredState(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	before := s.Bind(api.BindingSpec{Node: "n1", Image: "d12", UserData: "#cloud-config\n", Hostname: "web",
		Verify: "full", Owner: "terraform:rack-a"})
	again, err := s.Client().ReimageBinding(t.Context(), "n1", api.IfRevision(before.Revision), api.IfGeneration(2))
	if err != nil {
		t.Fatal(err)
	}
	if again.Generation != 2 || again.Revision <= before.Revision ||
		len(api.Reimages(before.Effect(), again.Effect(), api.NodeSpec{})) > 0 ||
		again.Verify != "full" || again.Owner != "terraform:rack-a" || again.UserDataSHA256 == "" || again.UserData != "" {
		t.Errorf("before %+v\nafter %+v", before, again)
	}
	m := s.Machine(1)
	m.Poll(0)
	if files := m.Seed(); !strings.Contains(files["user-data"], "#cloud-config") {
		t.Errorf("the seed lost the user data: %v", files)
	}
	events, err := s.Client().Events(t.Context(), "n1", 10)
	if err != nil {
		t.Fatal(err)
	}
	binds := 0
	for _, event := range events {
		if event.Kind == "bind" {
			binds++
		}
	}
	if binds != 2 {
		t.Errorf("%d bind events: %+v", binds, events)
	}
}

func TestReimageOnlyAsWanted(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.refused(404, "POST", "/v1/bindings/n9/reimage", nil, "node n9 does not exist")
	s.refused(404, "POST", "/v1/bindings/n1/reimage", nil, "node n1 is not bound")
	first := s.Bind(api.BindingSpec{Node: "n1"}) // no image: it is wiped again
	s.refused(412, "POST", "/v1/bindings/n1/reimage?generation=3", nil, "the binding of n1 would get generation 2, not 3")
	s.admin(200, "POST", "/v1/bindings/n1/reimage", nil)
	if _, err := s.Client().ReimageBinding(t.Context(), "n1", api.IfRevision(first.Revision)); api.StatusOf(err) != 412 {
		t.Errorf("an older revision: %v", err)
	}
	s.admin(200, "POST", "/v1/bindings/"+address(1)+"/reimage?generation=3", nil)
	if now := s.Node(1).Binding.Generation; now != 3 {
		t.Errorf("generation %d", now)
	}
	if a := s.Ask("POST", "/v1/bindings/n1/reimage", "", ""); a.Status != 401 {
		t.Errorf("without a token: %d", a.Status)
	}
}

// A capture is made once: its name is taken then.
func TestReimageOfACapture(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1", Capture: "golden"})
	s.admin(200, "POST", "/v1/bindings/n1/reimage", nil)
	s.Machine(1).Fulfil()
	s.refused(422, "POST", "/v1/bindings/n1/reimage", nil, "image golden exists: choose another name")
}
