// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/console"
)

const (
	at   = "2026-01-02T03:04:05Z "
	said = "sled: claim K7QF-2M9D"
)

func TestSightings(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                      {"", ""},
		"one":                          {at + said + "\n", "K7QF-2M9D@05 "},
		"as a terminal sends it":       {at + said + "\r\r\n", "K7QF-2M9D@05 "},
		"after a line that ends in CR": {at + "boot\n" + at + "\r" + said + "\n", "K7QF-2M9D@05 "},
		"between others":               {at + "a\n" + at + said + "\n" + at + "sled: level\n", "K7QF-2M9D@05 "},
		"two": {at + said + "\n" + at + "sled: claim 00000000\n" + at + "sled: claim 0000-0000\n",
			"K7QF-2M9D@05 0000-0000@05 "},
		"again a minute later": {at + said + "\n2026-01-02T03:05:06Z " + said + "\n",
			"K7QF-2M9D@05 K7QF-2M9D@06 "},
		"a line that is not complete":     {at + said, ""},
		"a code that is not complete":     {at + "sled: claim K7QF-2M9\n", ""},
		"a code that is split":            {at + "sled: claim K7QF\n" + at + "-2M9D\n", ""},
		"a longer code":                   {at + said + "D\n", ""},
		"more behind it":                  {at + said + " yes\n", ""},
		"more before it":                  {at + "login: " + said + "\n", ""},
		"more before it, with a CR":       {at + "login: \r" + said + "\n", ""},
		"a time that the node prints":     {at + "2030-01-01T00:00:00Z " + said + "\n", ""},
		"no time":                         {said + "\n", ""},
		"no time that is one":             {"2026-13-02T03:04:05Z " + said + "\n", ""},
		"a digit that no code has":        {at + "sled: claim K7QF-2M9O\n", ""},
		"lower case":                      {at + strings.ToLower(said) + "\n", ""},
		"a token":                         {at + "sled: claim [token]\n", ""},
		"two on one line":                 {at + said + " " + said + "\n", ""},
		"the words alone, to the end":     {at + "sled: claim ", ""},
		"the words at the very beginning": {"sled: claim ", ""},
	} {
		got := ""
		for _, sighting := range console.Sightings([]byte(c.text)) {
			got += fmt.Sprintf("%s@%02d ", sighting.Code, sighting.Time.Second())
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzSightings: whatever a node prints, only whole lines count, and each code is in the text.
func FuzzSightings(f *testing.F) {
	f.Add(at + said + "\r\n" + at + "login: ")
	f.Fuzz(func(t *testing.T, text string) {
		for _, sighting := range console.Sightings([]byte(text)) {
			if !strings.Contains(text, "sled: claim "+sighting.Code) || sighting.Time.IsZero() {
				t.Errorf("%q: %+v", text, sighting)
			}
		}
		if cut := strings.TrimRight(text, "\n"); !strings.Contains(cut, "\n") && len(console.Sightings([]byte(cut))) > 0 {
			t.Errorf("half a line counts: %q", cut)
		}
	})
}
