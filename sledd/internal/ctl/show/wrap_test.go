// SPDX-License-Identifier: Apache-2.0

package show

import (
	"strings"
	"testing"
)

func TestLinesHang(t *testing.T) {
	for line, want := range map[string]string{
		"short":                                "short",
		"  two  blanks and a word":             "  two  blanks\n    and a word",
		"a 0123456789abcdefghijkl":             "a 0123456789abcd\n    efghijkl",
		"0123456789abcdef next one":            "0123456789abcdef\n    next one",
		"\x1b[1mbold\x1b[0m and more and more": "\x1b[1mbold\x1b[0m and more\n    and more",
	} {
		if got := (Screen{Terminal: true, Size: func() (int, int) { return 16, 24 }}).Hang(line, 4); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Screen{}).Hang(strings.Repeat("word ", 40), 4); strings.Contains(got, "\n") {
		t.Errorf("a pipe got %q", got)
	}
}
