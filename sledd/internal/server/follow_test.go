// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// A request of an operator with the header Sled-Rollout reports that the rollout is followed; it fails for no such
// header, and is no change in the audit.
func TestRequestsReportThatARolloutIsFollowed(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	r, err := s.Client().StartRollout(t.Context(), "", api.RolloutSpec{Nodes: []string{"n1"}, Desired: "d12"})
	if err != nil {
		t.Fatal(err)
	}
	reader := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/eve",
		api.Operator{Name: "eve", Role: api.Read})).Token
	record := "/sled/v1/runs/" + r.Name + "/runner"
	for _, c := range []struct {
		token, header string
		recorded      bool
	}{
		{s.Token, "", false},
		{reader, r.Name, false},
		{s.Token, "reimage-99", false},
		{s.Token, "../nodes/x", false},
		{s.Token, strings.Repeat("a", 65), false},
		{s.Token, r.Name, true},
	} {
		if answer := s.Ask("GET", "/v1/nodes/n1", c.token, "", "Sled-Rollout", c.header); answer.Status != 200 {
			t.Errorf("%q: %d %s", c.header, answer.Status, answer.Body)
		}
		if got := strings.Contains(dump(t, shared), record); got != c.recorded {
			t.Errorf("%q: recorded %v, want %v", c.header, got, c.recorded)
		}
	}
}
