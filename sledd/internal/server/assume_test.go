// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// A dry run checks bindings of nodes and images that do not exist yet as if they did, and only a dry run does.
func TestDryRunAssumesObjects(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	image := s.Register("d12")
	image.Name, image.Architecture = "d13", "arm64"
	nodes := []api.NodeSpec{{MAC: address(7), Name: "r7", Architecture: "arm64", Disk: "only"},
		{MAC: address(8), Name: "r8", Architecture: "arm64"},
		{MAC: address(1), Name: "n1", Architecture: "arm64"}}
	const dry = "/v1/bindings?dry_run=true"
	ask := func(spec api.BindingSpec) api.BulkBindings {
		all := bulk(spec)
		all.Assume = &api.Assumed{Nodes: nodes, Images: []api.ImageSpec{image}}
		return all
	}
	before := unaudited(dump(t, shared))
	for _, node := range []string{"r7", address(7)} {
		s.admin(200, "POST", dry, ask(api.BindingSpec{Node: node, Image: "d13"}))
	}
	s.admin(200, "POST", dry, ask(api.BindingSpec{Node: "n1", Image: "d13", Disk: "only"}))
	s.refused(422, "POST", dry, ask(api.BindingSpec{Node: "r7", Image: "d12"}),
		"image d12 is for x86_64, node r7 is arm64")
	s.refused(422, "POST", dry, ask(api.BindingSpec{Node: "r8", Image: "d13"}),
		"neither the binding nor node r8 names one")
	s.refused(422, "POST", dry, ask(api.BindingSpec{Node: "r9"}), "node r9 does not exist")
	s.refused(422, "POST", "/v1/bindings", ask(api.BindingSpec{Node: "r7"}), "only a dry run assumes objects")
	if after := unaudited(dump(t, shared)); after != before {
		t.Errorf("the store is changed:\n%s\nbefore:\n%s", after, before)
	}
}
