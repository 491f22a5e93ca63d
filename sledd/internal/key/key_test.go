// SPDX-License-Identifier: Apache-2.0

package key_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/key"
)

func TestKeysOfEventsSortByTime(t *testing.T) {
	const mac = "52:54:00:77:00:01"
	times := []int64{0, 9, 10, 1_000_000_000, 1_767_323_045_000_000_000}
	var keys []string
	for _, at := range times {
		keys = append(keys, key.Event(mac, at))
	}
	if !slices.IsSorted(keys) {
		t.Errorf("%q", keys)
	}
	for _, one := range keys {
		if !strings.HasPrefix(one, key.EventsOf(mac)) || len(one) != len(keys[0]) {
			t.Errorf("%q", one)
		}
	}
}

func TestNoPrefixHoldsTheKeysOfAnother(t *testing.T) {
	prefixes := []string{key.Nodes, key.Names, key.Images, key.Bindings, key.Status, key.Facts, key.Logs,
		key.Tokens, key.Events,
		key.Operators, key.Rollouts, key.Runs, key.Kexecs, key.Detours, key.Admissions}
	for i, one := range prefixes {
		if !strings.HasPrefix(one, key.Root) || !strings.HasSuffix(one, "/") {
			t.Errorf("%q", one)
		}
		for j, other := range prefixes {
			if i != j && strings.HasPrefix(one, other) {
				t.Errorf("%q lies under %q", one, other)
			}
		}
	}
	if strings.HasPrefix(key.RunsOf("reimage-10"), key.RunsOf("reimage-1")) {
		t.Error("the runs of one rollout are among those of another")
	}
}
