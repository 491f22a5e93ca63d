// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// A system that is configured needs the interfaces of the declared network, on a disk and in memory.
func TestAMachineWithoutADeclaredInterfaceGetsNoPlan(t *testing.T) {
	const declared = "52:54:00:77:00:01"
	root := image()
	root.Kind = api.RootImage
	for _, c := range []struct {
		name  string
		image *api.ImageSpec
		spec  api.BindingSpec
		needs bool
	}{
		{"disk", image(), api.BindingSpec{Image: "d12", Disk: "only"}, true},
		{"memory", root, api.BindingSpec{Image: "d12"}, true},
		{"not configured", image(), api.BindingSpec{Image: "d12", Disk: "only", Configure: api.Unconfigured}, false},
	} {
		asked := request(api.NodeSpec{Name: "n1", Network: `{"ethernets":{"lan":{"match":{"macaddress":"` + declared +
			`"}}},"version":2}`}, c.spec, c.image)
		if _, err := plan.Render(asked); !errors.Is(err, plan.ErrNoFacts) {
			t.Errorf("%s: without facts: %v", c.name, err)
		}
		for mac, refused := range map[string]bool{declared: false, "52:54:00:77:00:02": c.needs} {
			asked.Facts = &api.Facts{Disks: oneDisk.Disks, NICs: []map[string]nodetext.Identifier{
				nodetexttest.Facts(map[string]string{"name": "eth0", "mac": mac})}}
			_, err := plan.Render(asked)
			if _, is := errors.AsType[*plan.NetworkError](err); is != refused || !is && err != nil {
				t.Errorf("%s, a machine with %s: %v", c.name, mac, err)
			}
		}
	}
}
