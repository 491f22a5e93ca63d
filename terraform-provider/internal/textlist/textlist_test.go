// SPDX-License-Identifier: Apache-2.0

package textlist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// All of 20 things are listed, of 21 the first 20, and what is listed stays as it was.
func TestSeveral(t *testing.T) {
	all := make([]string, textlist.Most+2)
	for i := range all {
		all[i] = fmt.Sprintf("n%02d", len(all)-i)
	}
	for count, more := range map[int]string{0: "", 1: "", textlist.Most: "", textlist.Most + 1: "and 1 more",
		textlist.Most + 2: "and 2 more"} {
		if got := textlist.More(count); got != more {
			t.Errorf("%d: %q, want %q", count, got, more)
		}
		lines, sentence := textlist.Lines(all[:count]), textlist.Sentence(all[:count])
		if strings.HasSuffix(lines, "\n"+more) != (more != "") || strings.HasSuffix(sentence, " "+more) != (more != "") ||
			strings.Count(lines, "n")-strings.Count(more, "n") != min(count, textlist.Most) {
			t.Errorf("%d: %q, %q", count, lines, sentence)
		}
	}
	if first := textlist.Sentence(all); !strings.HasPrefix(first, "n01, n02, ") || !strings.HasPrefix(
		textlist.Lines(all), "n22\nn21\n") || all[textlist.Most] != "n02" {
		t.Errorf("%q, %q", first, all)
	}
}
