// SPDX-License-Identifier: Apache-2.0

package several_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/several"
)

// All of 20 things are listed, of 21 the first 20, and what is listed stays as it was.
func TestSeveral(t *testing.T) {
	all := make([]string, several.Most+2)
	for i := range all {
		all[i] = fmt.Sprintf("n%02d", len(all)-i)
	}
	for count, more := range map[int]string{0: "", 1: "", several.Most: "", several.Most + 1: "and 1 more",
		several.Most + 2: "and 2 more"} {
		if got := several.More(count); got != more {
			t.Errorf("%d: %q, want %q", count, got, more)
		}
		lines, sentence := several.Lines(all[:count]), several.Sentence(all[:count])
		if strings.HasSuffix(lines, "\n"+more) != (more != "") || strings.HasSuffix(sentence, " "+more) != (more != "") ||
			strings.Count(lines, "n")-strings.Count(more, "n") != min(count, several.Most) {
			t.Errorf("%d: %q, %q", count, lines, sentence)
		}
	}
	if first := several.Sentence(all); !strings.HasPrefix(first, "n01, n02, ") || !strings.HasPrefix(
		several.Lines(all), "n22\nn21\n") || all[several.Most] != "n02" {
		t.Errorf("%q, %q", first, all)
	}
}
