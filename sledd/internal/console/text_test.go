// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/console"
)

func TestShows(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 700_000_000, time.UTC)
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"nothing":                        {"", false},
		"the line":                       {at + "Pass:  1\r\n", true},
		"in the middle of a line":        {at + "a Pass:  1 b\n", true},
		"a line that has not ended":      {at + "Pass:  1", true},
		"later":                          {"2026-01-02T04:00:00Z Pass:  1\n", true},
		"before the jump":                {"2026-01-02T03:04:04Z Pass:  1\n", false},
		"an old line, and a new one":     {"2026-01-02T03:04:04Z Pass:  1\n" + at + "Pass:  0\n", false},
		"between movements and colours":  {at + "\x1b[1;1H\x1b[37mPass:\x1b[0m  \x1b[9C1", true},
		"within a sequence":              {at + "\x1b]0;Pass:  1\a", false},
		"another text":                   {at + "Pass:  2\n", false},
		"split between lines":            {at + "Pass:\n" + at + "  1\n", false},
		"no time":                        {"Pass:  1\n", false},
		"printed by the Sled system":     {at + "sled: step 2/2 Pass:  1 ... ok\n", false},
		"printed by it, in another form": {at + "[    1.2] sled: Pass:  1\n", false},
	} {
		if got := console.Shows([]byte(c.text), since, "Pass:  1"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
