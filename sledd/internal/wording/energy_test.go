// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestEnergy(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	few := api.Clean("the reading changed 5 times")
	for want, energy := range map[string]*api.Energy{
		"": nil,
		"151.2 kJ (148.1 kJ to 155.0 kJ, the meter refreshes every 2.0 s)": {Joules: number(151230), Least: number(148110),
			Most: number(155020), Refresh: 2},
		"950 J to 15.5 MJ, no figure: the reading changed 5 times": {Least: number(950), Most: number(15.5e6), Reason: few},
		"no figure of its energy: the reading changed 5 times":     {Reason: few},
	} {
		if got := Energy(energy); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
