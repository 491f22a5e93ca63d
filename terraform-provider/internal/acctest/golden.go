// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var trailing = regexp.MustCompile(`(?m) +$`)

// Golden wants a text to be that of a file, but for blanks at ends of lines and empty lines around it.
func Golden(t *testing.T, file, text string) {
	t.Helper()
	text = strings.Trim(trailing.ReplaceAllString(text, ""), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // of a test
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\ngo test -update rewrites it", file, text, want)
	}
}
