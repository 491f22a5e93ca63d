// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestEffectSaysWhenAsSleddDoes(t *testing.T) {
	for _, c := range []struct {
		name   string
		phase  api.Phase
		rescue *api.Rescue
		want   string
	}{
		{"running", api.Operational, nil, "its disk is wiped and gets image v2; at its next boot"},
		{"waiting", api.Idle, nil, "its disk is wiped and gets image v2; now, if it still waits in the Sled system"},
		{"rescue requested", api.Operational, &api.Rescue{}, "its disk is wiped and gets image v2; when its detour ends"},
		{"under rescue", api.UnderRescue, &api.Rescue{}, "its disk is wiped and gets image v2; when its detour ends"},
	} {
		binding := &api.Binding{Generation: 2, BindingSpec: api.BindingSpec{Image: "v2"}}
		node := api.Node{Status: api.Status{Phase: c.phase, Generation: 1}, Binding: binding,
			Detours: api.Detours{Rescue: c.rescue}}
		if c.name == "waiting" {
			binding.Partition = "2"
			const one = "partition 2 of its disk gets image v2, and all other bytes stay; " +
				"now, if it still waits in the Sled system"
			if got := Effect(node); got != one {
				t.Errorf("%q, want %q", got, one)
			}
			binding.Partition = ""
		}
		if got := Effect(node); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
