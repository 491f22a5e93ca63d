// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func within(wipes, reimages int) api.Limits {
	limits := api.Limits{}
	if wipes >= 0 {
		limits.MaxWipes = &wipes
	}
	if reimages >= 0 {
		limits.MaxReimages = &reimages
	}
	return limits
}

// exceeds expects a problem with status 409 that names the limit, the count and the nodes, and no change.
func (s *sledd) exceeds(path string, body any, limit, message string, nodes ...string) {
	s.Helper()
	before := unaudited(dump(s.T, shared))
	for _, query := range []string{"?dry_run=true", ""} {
		answer := s.admin(409, "POST", path+query, body)
		var problem api.Error
		if err := json.Unmarshal([]byte(answer.Body), &problem); err != nil || len(problem.Errors) != 1 ||
			problem.Errors[0].Location != "body."+limit ||
			fmt.Sprint(problem.Errors[0].Value) != fmt.Sprint(nodes) || !strings.Contains(problem.Detail, message) {
			s.Errorf("%v, %+v", err, problem)
		}
	}
	if after := unaudited(dump(s.T, shared)); after != before {
		s.Errorf("a refused request changed the store:\n%s\nbefore:\n%s", after, before)
	}
}

// rackOfFour is n0 and n1, which have image d12, n2, which is bound, and n3 without a binding.
func rackOfFour(t *testing.T) *sledd {
	t.Helper()
	s := fresh(t)
	s.Register("d12")
	s.Register("d13")
	s.DeclareMany(4)
	for i := range 3 {
		s.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", i), Image: "d12"})
	}
	s.Machine(0).Fulfil()
	s.Machine(1).Fulfil()
	return s
}

func TestBulkChangeKeepsLimits(t *testing.T) {
	s := rackOfFour(t)
	request := func(image string, limits api.Limits) api.BulkBindings {
		all := bulk(api.BindingSpec{Node: "n0", Image: image}, api.BindingSpec{Node: "n1", Image: image},
			api.BindingSpec{Node: "n2", Image: image}, api.BindingSpec{Node: "n3", Image: image})
		all.Limits = limits
		return all
	}
	s.exceeds("/v1/bindings", request("d13", within(3, -1)), "max_wipes",
		"nothing was changed: max_wipes is 3, but 4 nodes would be wiped: n0, n1, n2, n3", "n0", "n1", "n2", "n3")
	s.exceeds("/v1/bindings", request("d13", within(-1, 2)), "max_reimages",
		"max_reimages is 2, but 3 nodes would be imaged or wiped again: n0, n1, n2", "n0", "n1", "n2")
	s.exceeds("/v1/bindings", request("", within(0, 3)), "max_wipes", "max_wipes is 0", "n0", "n1", "n2", "n3")
	s.exceeds("/v1/bindings", request("d12", within(0, 0)), "max_wipes",
		"max_wipes is 0, but 1 node would be wiped: n3", "n3")
	only := bulk(api.BindingSpec{Node: "n0", Image: "d12", Verify: "full"}, api.BindingSpec{Node: "n1", Capture: "golden"})
	only.Items = append(only.Items, api.BulkBinding{BindingSpec: api.BindingSpec{Node: "n2"}, Unbind: true})
	only.Limits = within(0, 0)
	s.admin(200, "POST", "/v1/bindings?dry_run=true", only)
	s.admin(200, "POST", "/v1/bindings?dry_run=true", request("d13", within(4, 3)))
	s.admin(200, "POST", "/v1/bindings", request("d13", within(4, 3)))
}

// A rollout images or wipes each of its nodes: so each counts, until it is done.
func TestRolloutKeepsLimits(t *testing.T) {
	s := rackOfFour(t)
	spec := func(limits api.Limits, nodes ...string) api.RolloutSpec {
		return api.RolloutSpec{Nodes: nodes, Desired: "image d13", Limits: limits}
	}
	all := []string{"n0", "n1", "n2", "n3"}
	s.exceeds("/v1/rollouts", spec(within(3, -1), all...), "max_wipes", "max_wipes is 3, but 4 nodes", all...)
	s.exceeds("/v1/rollouts", spec(within(4, 2), all...), "max_reimages", "max_reimages is 2, but 3 nodes",
		"n0", "n1", "n2")
	kept := spec(within(0, 0), all...)
	kept.Memory = []string{"n0", "n1", "n3"}
	s.exceeds("/v1/rollouts", kept, "max_reimages", "max_reimages is 0, but 1 node would be", "n2")
	kept.Memory = all
	s.admin(201, "POST", "/v1/rollouts?dry_run=true", kept)
	empty := unaudited(dump(t, shared))
	tried := as[api.Rollout](t, s.admin(201, "POST", "/v1/rollouts?dry_run=true", spec(within(4, 3), all...)))
	if tried.Name != "reimage-1" || fmt.Sprint(tried.Waves) != "[[n0 n1 n2 n3]]" || unaudited(dump(t, shared)) != empty {
		t.Errorf("%+v", tried)
	}
	s.refused(422, "POST", "/v1/rollouts?dry_run=true", spec(api.Limits{}, "n9"), "node n9 is not declared")
	name := as[api.Rollout](t, s.admin(201, "POST", "/v1/rollouts", spec(within(4, 3), all...))).Name
	for _, node := range []string{"n0", "n3"} {
		s.Report(name, node, api.NodeRunSpec{State: api.RunRunning})
		s.Bind(api.BindingSpec{Node: node, Image: "d13"})
	}
	s.Machine(0).Fulfil()
	s.exceeds("/v1/rollouts", spec(within(2, -1), all...), "max_wipes", "3 nodes", "n1", "n2", "n3")
	s.exceeds("/v1/rollouts", spec(within(-1, 1), all...), "max_reimages", "2 nodes", "n1", "n2")
	resumed := as[api.Rollout](t, s.admin(200, "POST", "/v1/rollouts", spec(within(3, 2), all...)))
	if resumed.Name != name || *resumed.MaxWipes != 3 || *resumed.MaxReimages != 2 {
		t.Errorf("%+v", resumed)
	}
	last := spec(within(0, 0), "n0")
	last.Again = true
	s.refused(409, "POST", "/v1/rollouts", last, "has some of these nodes")
}

// A refusal names the first nodes in its sentence, and all of them beside it.
func TestLimitOfManyNodes(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	s.DeclareMany(300)
	var nodes []string
	var specs []api.BindingSpec
	for i := range 300 {
		nodes = append(nodes, fmt.Sprintf("n%d", i))
		specs = append(specs, api.BindingSpec{Node: nodes[i], Image: "d12"})
	}
	all := bulk(specs...)
	all.Limits = within(299, -1)
	s.exceeds("/v1/bindings", all, "max_wipes",
		"300 nodes would be wiped: "+strings.Join(nodes[:20], ", ")+" and 280 more", nodes...)
}
