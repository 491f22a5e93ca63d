// SPDX-License-Identifier: Apache-2.0

package show

import "testing"

func TestBar(t *testing.T) {
	for _, test := range []struct {
		done, total int64
		want        string
	}{{0, 8, "────"}, {4, 8, "━━──"}, {8, 8, "━━━━"}, {9, 8, "━━━━"},
		{-1, 8, "────"}, {5, 0, "────"}, {1 << 50, 1 << 50, "━━━━"}} {
		if got := Bar(test.done, test.total, 4); got != test.want {
			t.Errorf("%d of %d: %s, want %s", test.done, test.total, got, test.want)
		}
	}
}
