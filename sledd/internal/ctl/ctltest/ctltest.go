// SPDX-License-Identifier: Apache-2.0

// Package ctltest has what the tests of the command line share: nodes in every situation, and golden files.
package ctltest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// Now returns noon.
func Now() time.Time { return Noon }

// Cells is the width of a line on a terminal.
func Cells(row string) int { return text.StringWidthWithoutEscSequences(row) }

var update = flag.Bool("update", false, "write the golden files again")

// Noon is the time of the tests.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Buffer can be written by a command while a test reads it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Golden compares with testdata/NAME.txt.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // of the test
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(got, "\n") {
		kept, rest, _ := strings.Cut(string(want), "\n")
		if line != kept {
			t.Errorf("%s:%d differs; -update writes it again; got\n%s\nwant\n%s", file, n+1, line, kept)
			return
		}
		want = []byte(rest)
	}
	if len(want) > 0 {
		t.Errorf("%s has more lines: %s", file, want)
	}
}

// Transcript is the output of several command lines, for one golden file.
type Transcript struct{ strings.Builder }

// Add appends a command line and its output.
func (w *Transcript) Add(line, output string) {
	_, _ = fmt.Fprintf(w, "$ sledctl %s\n%s\n", line, output)
}

// At compares with testdata/NAME.txt, if the terminal has the width of golden files.
func (w *Transcript) At(t *testing.T, width int, name string) {
	t.Helper()
	if width == GoldenWidth {
		Golden(t, name, w.String())
	}
}

// Widths are the terminals in which every line has to fit.
var Widths = []int{80, 100, 120, 200}

// GoldenWidth is the one whose output is kept.
const GoldenWidth = 80

// Terminal is a screen of a width.
func Terminal(width int) show.Screen {
	return show.Screen{Terminal: true, Size: func() (int, int) { return width, 24 }}
}

// CheckWidth fails for each line that is wider than the terminal.
func CheckWidth(t *testing.T, name, output string, width int) {
	t.Helper()
	for line := range strings.Lines(output) {
		if n := Cells(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%s: %d cells in %d: %s", name, n, width, line)
		}
	}
}
