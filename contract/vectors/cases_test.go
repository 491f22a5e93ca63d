// SPDX-License-Identifier: Apache-2.0

package vectors_test

import (
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
)

func TestEscapesAreBytes(t *testing.T) {
	for _, c := range []struct{ table, name, want string }{
		{"plan/ok", "idle", "plan 1\ngeneration 0 run 7\nidle\n"},
		{"plan/bad", "empty_file", ""},
		{"plan/bad", "empty_line", "plan 1\ngeneration 1 run 7\n\nidle\n"},
		{"plan/bad", "no_final_newline", "plan 1\ngeneration 1 run 7\nidle"},
		{"report/hostile/text", "invalid_utf8", "caf\xe9 \xff\xfe \xed\xa0\x80 \xf4\x90\x80\x80\n"},
		{"report/hostile/text", "escape", "one\x1b[2J\x1b[1;1Htwo\x1b]0;title\x07three\x1b]52;c;dG91Y2ggUFdORUQ=\x1b\\\n" +
			"\x1b\x1b[0m[31mfour\x1b(0\n\x9b31m\u009b31mfive\x00\x07\x08\x7f\n"},
	} {
		if got := vectors.Text(t, c.table, c.name); got != c.want {
			t.Errorf("%s %s is read as %q, not %q", c.table, c.name, got, c.want)
		}
	}
}
