// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/console"
)

const mac = "52:54:00:77:00:01"

func record(t *testing.T, files map[string]string) console.Directory {
	t.Helper()
	directory := console.Directory(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(directory.File(mac)+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// TestCodesAtABorder: a read may start and end in the middle of a line, and the record may be rotated in between.
func TestCodesAtABorder(t *testing.T) {
	line := at + said + "\n"
	noise := strings.Repeat(at+"noise\n", 8)
	for name, c := range map[string]struct {
		files map[string]string
		bytes int
		want  int
	}{
		"the read starts with the line":          {map[string]string{"": noise + line}, len(line), 1},
		"the read starts within the line":        {map[string]string{"": noise + line}, len(line) - 1, 0},
		"the read starts within the line before": {map[string]string{"": noise + line}, len(line) + 3, 1},
		"the line is not complete":               {map[string]string{"": noise + line[:len(line)-1]}, 4096, 0},
		"the line is in the previous file":       {map[string]string{"": noise, ".1": noise + line}, 4096, 1},
		"the line is split between two files":    {map[string]string{"": line[20:], ".1": noise + line[:20]}, 4096, 1},
		"the previous file is beyond the read":   {map[string]string{"": noise, ".1": line}, len(noise), 0},
		"the current file is empty":              {map[string]string{"": "", ".1": line}, 4096, 1},
	} {
		text, err := record(t, c.files).Tail(mac, int64(c.bytes))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(console.Sightings(text)); got != c.want || len(text) > c.bytes {
			t.Errorf("%s: %d codes in %q, want %d", name, got, text, c.want)
		}
	}
}

func TestARecordThatIsNone(t *testing.T) {
	directory := record(t, map[string]string{".1": at + said + "\n"})
	if _, err := directory.Tail(mac, 64); !console.Missing(err) {
		t.Errorf("no current file: %v", err)
	}
	if _, err := directory.Mark(mac); !console.Missing(err) {
		t.Errorf("no current file: %v", err)
	}
	if err := os.Mkdir(directory.File(mac), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := directory.Tail(mac, 64); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// TestEveryChangeHasAnotherMark: also another file of the same size.
func TestEveryChangeHasAnotherMark(t *testing.T) {
	directory := record(t, map[string]string{"": "one\n"})
	seen := map[console.Mark]string{}
	for _, change := range []struct {
		name string
		do   func(file string) error
	}{
		{"as it was", func(string) error { return nil }},
		{"a line more", func(file string) error { return os.WriteFile(file, []byte("one\ntwo\n"), 0o600) }},
		{"truncated", func(file string) error { return os.Truncate(file, 3) }},
		{"another file of that size", func(file string) error {
			if err := os.WriteFile(file+".new", []byte("two\n"), 0o600); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		}},
	} {
		if err := change.do(directory.File(mac)); err != nil {
			t.Fatal(err)
		}
		mark, err := directory.Mark(mac)
		if err != nil || seen[mark] != "" {
			t.Errorf("%s: the mark is that of %q, %v", change.name, seen[mark], err)
		}
		seen[mark] = change.name
	}
}
