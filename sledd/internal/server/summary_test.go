// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestSummaryOfTheFleet(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	for i := range 3 {
		s.Declare(i + 1)
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Say("facts", "facts 1\nboot "+m.Boot+"\ndmi vendor=ACME product=X1\n"+
		"disk name=vda serial=LAB-0001 bytes=4294967296\n")
	m.Fulfil()
	s.Bind(api.BindingSpec{Node: "n2", Image: "d12"})
	for by, want := range map[string]int{"label:rack": 1, "model": 2, "image": 2, "phase": 2} {
		sum, err := s.Client().Summary(t.Context(), by, api.Filter{Labels: []string{"rack=a"}})
		if err != nil || len(sum.Groups) != want || sum.Total.Nodes != 3 || sum.Total.Drift != 1 ||
			sum.Total.Phases["operational"] != 1 {
			t.Errorf("by %s: %+v, %v; want %d groups", by, sum, err, want)
		}
		if last := sum.Groups[len(sum.Groups)-1]; by == "model" && last.Value != "ACME X1" {
			t.Errorf("%+v", last)
		}
	}
	if sum, err := s.Client().Summary(t.Context(), "phase", api.Filter{Drift: true}); err != nil || sum.Total.Nodes != 1 {
		t.Errorf("of drift: %+v, %v", sum, err)
	}
	nodes, err := api.Collect(s.Client().Nodes(t.Context(), api.Filter{Drift: true}))
	if err != nil || len(nodes) != 1 || nodes[0].Name != "n2" {
		t.Errorf("%+v, %v", nodes, err)
	}
	s.admin(422, "GET", "/v1/summary", nil)
	s.admin(422, "GET", "/v1/summary?by=serial", nil)
	s.admin(422, "GET", "/v1/summary?by=phase&satisfied=maybe", nil)
}
