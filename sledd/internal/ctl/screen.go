// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"os"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

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

// width is the number of cells in a line.
func (s Screen) width() int {
	if s.Size == nil {
		return 80
	}
	width, _ := s.Size()
	return width
}

func (s Screen) paint(words string, colours ...text.Color) string {
	if !s.Colour || len(colours) == 0 {
		return words
	}
	return text.Colors(colours).Sprint(words)
}
