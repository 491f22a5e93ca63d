// SPDX-License-Identifier: Apache-2.0

// Package vectors reads the tables of cases in this folder, for tests. cases.py describes the format.
package vectors

import (
	"embed"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

//go:embed admission network plan report signing/ok signing/bad
var tables embed.FS

var escape = regexp.MustCompile(`\\(x[0-9a-f]{2}|.)`)

// Case is a text for a parser.
type Case struct{ Name, Text string }

// Cases returns the cases of a table, as plan/ok, of which there are at least that many.
func Cases(t testing.TB, table string, least int) []Case {
	t.Helper()
	text, err := tables.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for line := range strings.Lines(string(text)) {
		if name, found := strings.CutPrefix(line, "case "); found {
			cases = append(cases, Case{Name: strings.TrimSuffix(name, "\n")})
		} else if line != "\n" && line[0] != '#' {
			cases[len(cases)-1].Text += unescape(t, line)
		}
	}
	if len(cases) < least {
		t.Fatalf("%s: %d cases", table, len(cases))
	}
	return cases
}

// Text returns the text of a case.
func Text(t testing.TB, table, name string) string {
	t.Helper()
	for _, c := range Cases(t, table, 1) {
		if c.Name == name {
			return c.Text
		}
	}
	t.Fatalf("%s has no case %s", table, name)
	return ""
}

func unescape(t testing.TB, line string) string {
	t.Helper()
	bare := strings.TrimRight(line, "\\\n")
	if (len(line)-1-len(bare))%2 == 1 {
		line = strings.TrimSuffix(line, "\\\n")
	}
	return escape.ReplaceAllStringFunc(line, func(found string) string {
		if found == `\\` {
			return `\`
		}
		value, err := strconv.ParseUint(strings.TrimPrefix(found, `\x`), 16, 8)
		if err != nil {
			t.Fatalf("unknown escape %s", found)
		}
		return string([]byte{byte(value)})
	})
}
