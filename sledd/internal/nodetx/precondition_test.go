// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

func TestPreconditions(t *testing.T) {
	zero, seven := int64(0), int64(7)
	for _, c := range []struct {
		name     string
		wanted   nodetx.Wanted
		revision int64
		holds    bool
	}{
		{"nothing", nodetx.Wanted{}, 0, true}, {"nothing", nodetx.Wanted{}, 7, true},
		{"one", nodetx.Wanted{Match: `"7"`}, 7, true}, {"one", nodetx.Wanted{Match: `"7"`}, 8, false},
		{"one that is missing", nodetx.Wanted{Match: `"7"`}, 0, false},
		{"one of several", nodetx.Wanted{Match: `"6", W/"7"`}, 7, true},
		{"any", nodetx.Wanted{Match: "*"}, 7, true}, {"any", nodetx.Wanted{Match: "*"}, 0, false},
		{"none", nodetx.Wanted{NoneMatch: "*"}, 0, true}, {"none", nodetx.Wanted{NoneMatch: "*"}, 7, false},
		{"another", nodetx.Wanted{NoneMatch: `"7"`}, 8, true}, {"another", nodetx.Wanted{NoneMatch: `"7"`}, 7, false},
		{"no revision", nodetx.Exactly(nil), 7, true}, {"revision 0", nodetx.Exactly(&zero), 7, false},
		{"revision 0", nodetx.Exactly(&zero), 0, true}, {"revision 7", nodetx.Exactly(&seven), 7, true},
		{"revision 7", nodetx.Exactly(&seven), 6, false},
	} {
		err := c.wanted.Check("node n1", c.revision)
		if (err == nil) != c.holds || err != nil && !refusal.Is(err, refusal.Precondition) {
			t.Errorf("%s at revision %d: %v", c.name, c.revision, err)
		}
	}
}
