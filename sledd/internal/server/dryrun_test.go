// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// A dry run changes no revision, needs role read only, and is no change in the audit.
func TestDryRunsChangeNothing(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Declare(2)
	spec := s.Register("d12")
	s.Register("d13")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Say("facts", "facts 1\nboot "+m.Boot+"\nkernel release=6.1 uptime=0.001\n"+
		"disk name=nvme0n1 serial=LAB-0001 model=PM9A3 bytes=1920383410176\n")
	reader := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/eve",
		api.Operator{Name: "eve", Role: api.Read})).Token
	ask := func(want int, method, path string, body any) sleddtest.Answer {
		t.Helper()
		text := ""
		if body != nil {
			text = string(nodetx.Encode(body))
		}
		answer := s.Ask(method, path, reader, text)
		if answer.Status != want {
			t.Errorf("%s %s: got %d, want %d: %s", method, path, answer.Status, want, answer.Body)
		}
		return answer
	}
	before := dump(t, shared)
	for _, c := range dryRuns(spec, s.Node(2).NodeSpec) {
		answer := ask(c.want, c.method, c.path+"?dry_run=true", c.body)
		if c.path == "/v1/bindings/n1" && c.method == "PUT" {
			const want = "n1: serial:LAB-0001 (PM9A3, 1.9 TB), generation 1 -> 2, image d12 -> d13"
			if outlook := as[api.Binding](t, answer).Outlook; outlook == nil || outlook.Wipes != want {
				t.Errorf("outlook is %+v, want %s", outlook, want)
			}
		}
		ask(403, c.method, c.path+"?dry_run=false&dry_run=true", c.body)
	}
	ask(403, "POST", "/v1/nodes/n1/boot?dry_run=true", nil)
	if after := dump(t, shared); unaudited(after) != unaudited(before) {
		t.Errorf("a dry run changed the store:\n%s\nbefore:\n%s", after, before)
	}
}

// unaudited is a dump without what every request may write: when a token was used, and refusals of real requests.
func unaudited(text string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, "/audit/") && !strings.Contains(line, "/operators/") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// dryRun is a request, and the status of its answer.
type dryRun struct {
	want         int
	method, path string
	body         any
}

// dryRuns are requests of every kind; n1 is bound to d12, n2 is not bound.
func dryRuns(d12 api.ImageSpec, n2 api.NodeSpec) []dryRun {
	renamed := n2
	renamed.Name = "n1"
	return []dryRun{
		{200, "PUT", "/v1/bindings/n1", api.BindingSpec{Node: "n1", Image: "d13"}},
		{200, "PUT", "/v1/bindings/n2", api.BindingSpec{Node: "n2", Image: "d13"}},
		{422, "PUT", "/v1/bindings/n2", api.BindingSpec{Node: "n2", Image: "nosuch"}},
		{200, "POST", "/v1/bindings", bulk(api.BindingSpec{Node: "n1", Image: "d13"}, api.BindingSpec{Node: "n2"})},
		{200, "POST", "/v1/bindings/n1/reimage", nil},
		{204, "DELETE", "/v1/bindings/n1", nil},
		{404, "DELETE", "/v1/bindings/n2", nil},
		{409, "PUT", "/v1/nodes/" + address(2), renamed},
		{409, "DELETE", "/v1/nodes/n1", nil},
		{204, "DELETE", "/v1/nodes/n2", nil},
		{200, "POST", "/v1/nodes/n1/replace", api.ReplaceSpec{MAC: "52:54:00:77:00:09"}},
		{409, "POST", "/v1/nodes/n1/replace", api.ReplaceSpec{MAC: address(2)}},
		{200, "PUT", "/v1/images/d12", d12},
		{204, "DELETE", "/v1/images/d13", nil},
		{200, "DELETE", "/v1/images/d13/signature", nil},
		{409, "DELETE", "/v1/images/d12", nil},
		{200, "PUT", "/v1/nodes/n1/rescue", api.RescueSpec{AuthorizedKeys: []string{operatorKey}}},
		{422, "PUT", "/v1/nodes/n1/rescue", api.RescueSpec{AuthorizedKeys: []string{"garbage"}}},
		{404, "DELETE", "/v1/nodes/n1/rescue", nil},
	}
}
