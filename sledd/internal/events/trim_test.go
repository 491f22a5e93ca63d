// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// history is a node's events in their order, a key for each that begins with its kind.
func history(kinds ...string) []store.KV {
	list := make([]store.KV, len(kinds))
	for i, kind := range kinds {
		list[i] = store.KV{Key: fmt.Sprintf("%s %d", kind, i), Value: fmt.Appendf(nil, `{"kind":%q}`, kind)}
	}
	return list
}

func TestTheOldestEventsAreDeleted(t *testing.T) {
	if got := surplus(history(slices.Repeat([]string{"step"}, Most)...)); len(got) != 0 {
		t.Errorf("%d of %d events are deleted", len(got), Most)
	}
	got := surplus(history(slices.Repeat([]string{"step"}, Most+1)...))
	if len(got) != Most+1-Kept || got[0] != "step 0" || got[len(got)-1] != fmt.Sprintf("step %d", Most-Kept) {
		t.Errorf("deleted: %q", got)
	}
}

func TestClaimsDoNotPushOutOtherEvents(t *testing.T) {
	kinds := []string{"bind", "expect", "admit"}
	deleted := 0
	for range 40 { // trims, each after fifty further claims of a stranger
		kinds = append(kinds, slices.Repeat([]string{"claim"}, 50)...)
		for _, name := range surplus(history(kinds...)) {
			deleted++
			if !strings.HasPrefix(name, "claim ") {
				t.Fatalf("%s is deleted", name)
			}
			kinds = slices.Delete(kinds, 3, 4)
		}
		if len(kinds) > Most {
			t.Fatalf("%d events are left", len(kinds))
		}
	}
	if deleted != 40*50+3-len(kinds) || deleted == 0 {
		t.Errorf("%d deleted, %d left", deleted, len(kinds))
	}
}

func TestTheNewestClaimsAreKept(t *testing.T) {
	kinds := append(slices.Repeat([]string{"claim"}, 120), slices.Repeat([]string{"step"}, Most-100)...)
	got := surplus(history(kinds...))
	want := len(kinds) - Kept
	if len(got) != want || got[0] != "claim 0" || got[19] != "claim 19" || !strings.HasPrefix(got[20], "step ") {
		t.Errorf("deleted: %q", got)
	}
}
