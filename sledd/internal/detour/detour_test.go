// SPDX-License-Identifier: Apache-2.0

package detour_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/detour"
)

// under has a rescue whose plan was given as that run; 0: it was not given yet.
func under(run int64) *detour.Detour { return &detour.Detour{Run: run, Rescue: &api.Rescue{}} }

func TestNext(t *testing.T) {
	node := func(phase api.Phase, kind string) detour.Node {
		return detour.Node{Bound: boot.Bound{Is: true, Generation: 3}, Status: api.Status{Phase: phase, Generation: 3,
			Run: api.Run{Number: 7, Generation: 3, Detour: kind}}}
	}
	newer := node(api.Failed, "rescue")
	newer.Bound.Generation = 4
	memory := node(api.Operational, "rescue")
	memory.Bound.Memory, memory.Satisfied = true, true
	unbound := node(api.Idle, "rescue")
	unbound.Bound = boot.Bound{}
	for _, c := range []struct {
		name   string
		detour *detour.Detour
		node   detour.Node
		given  int64
		want   string // the step; empty: it follows its binding
	}{
		{"none", nil, node(api.Failed, ""), 7, ""},
		{"requested", under(0), node(api.Failed, ""), 7, "rescue"},
		{"given, and got", under(7), node(api.UnderRescue, "rescue"), 7, "-"},
		{"given, and lost", under(7), node(api.Failed, "rescue"), 6, "rescue"},
		{"another boot", under(7), node(api.UnderRescue, "rescue"), 0, "rescue"},
		{"ended, of a node that had failed", nil, node(api.Failed, "rescue"), 7, "idle"},
		{"ended before it was got", nil, node(api.Failed, "rescue"), 6, "idle"},
		{"ended, of an interrupted node", nil, node(api.Writing, "rescue"), 7, "reboot"},
		{"ended, of a system", nil, node(api.Operational, "rescue"), 7, "reboot"},
		{"ended, of a node without a binding", nil, unbound, 7, "idle"},
		{"ended, and the binding is newer", nil, newer, 7, ""},
		{"ended, in another boot", nil, node(api.Failed, "rescue"), 0, ""},
		{"ended, of what runs from memory", nil, memory, 7, ""},
		{"left", nil, node(api.Failed, detour.Return), 7, ""},
		{"left, and that plan was lost", nil, node(api.Failed, detour.Return), 6, "idle"},
	} {
		next, is := c.detour.Next(c.node, c.given)
		got := ""
		switch {
		case is && len(next.Steps) == 0:
			got = "-"
		case is:
			got = next.Steps[0].Word
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
