// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
)

func TestJudge(t *testing.T) {
	at := func(phase api.Phase, observed int64) api.Node {
		n := ctltest.Node(1, phase, 0)
		n.Status.Generation = observed
		return n
	}
	for name, test := range map[string]struct {
		node api.Node
		want Verdict
	}{
		"done":                              {ctltest.Bound(at(api.Operational, 2), "i", 2), Done},
		"old system, new binding":           {ctltest.Bound(at(api.Operational, 1), "i", 2), Pending},
		"failed":                            {ctltest.Bound(at(api.Failed, 2), "i", 2), Failed},
		"failed before this binding":        {ctltest.Bound(at(api.Failed, 1), "i", 2), Pending},
		"writing":                           {ctltest.Bound(at(api.Writing, 2), "i", 2), Pending},
		"operational, no binding":           {at(api.Operational, 1), Done},
		"wiped, no binding":                 {at(api.Wiped, 1), Done},
		"failed, no binding":                {at(api.Failed, 1), Failed},
		"idle, no binding as yet":           {at(api.Idle, 0), Pending},
		"never seen, no binding, no status": {api.Node{}, Pending},
	} {
		if got := Judge(test.node); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
