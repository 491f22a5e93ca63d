// SPDX-License-Identifier: Apache-2.0

// Package show prints the objects of the API on a terminal or into a pipe: tables, bars and details.
package show

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Section prints a heading and the rows that have a value.
func (p *Printer) Section(name string, rows [][2]string) {
	_, _ = fmt.Fprintln(p.Out, p.Screen.Paint(name, text.Bold))
	for _, row := range rows {
		if row[1] != "" {
			_, _ = fmt.Fprintln(p.Out, p.Screen.Hang(fmt.Sprintf("  %-18s%s", row[0], row[1]), 20))
		}
	}
}

// Phase is a phase in its colour.
func (s Screen) Phase(phase api.Phase) string {
	return s.Paint(wording.Phase(phase), phaseColours[phase]...)
}

// Say writes a sentence, in several lines on a narrow terminal.
func (p *Printer) Say(w io.Writer, format string, values ...any) {
	_, _ = fmt.Fprintln(w, p.Screen.Hang(fmt.Sprintf(format, values...), 2))
}

// Screen describes the destination of the output.
type Screen struct {
	Terminal bool // lines can be overwritten
	Colour   bool
	Wide     bool                       // tables are whole
	Size     func() (width, height int) // called before each drawing: windows change
}

// IsTerminal reports whether a person is behind a file.
func IsTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// ScreenOf describes a file: a terminal or not.
func ScreenOf(file *os.File) Screen {
	descriptor := int(file.Fd())
	terminal := term.IsTerminal(descriptor) && os.Getenv("TERM") != "dumb"
	return Screen{
		Terminal: terminal,
		Colour:   terminal && os.Getenv("NO_COLOR") == "",
		Size: func() (int, int) {
			width, height, err := term.GetSize(descriptor)
			if err != nil || width <= 0 || height <= 0 {
				return 80, 24
			}
			return width, height
		},
	}
}

// Width is the number of cells in a line.
func (s Screen) Width() int {
	if s.Size == nil {
		return 80
	}
	width, _ := s.Size()
	return width
}

// Paint colours words, if the screen has colours.
func (s Screen) Paint(words string, colours ...text.Color) string {
	if !s.Colour || len(colours) == 0 {
		return words
	}
	return text.Colors(colours).Sprint(words)
}

// Printer prints what a command shows.
type Printer struct {
	Out, Err io.Writer
	Now      func() time.Time
	Screen   Screen // properties of Out
}
