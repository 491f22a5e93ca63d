// SPDX-License-Identifier: Apache-2.0

package show

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// wrap breaks a cell into lines of at most width.
func wrap(words string, width int) string { return strings.Join(wrapped(words, width, 0), "\n") }

// Hang wraps a line for a terminal; the lines that follow the first are indented. Other outputs get the line as it is.
func (s Screen) Hang(line string, indent int) string {
	if !s.Terminal {
		return line
	}
	return strings.Join(wrapped(line, max(s.Width(), indent+8), indent), "\n")
}

// wrapped breaks a line at blanks, and a word that is wider than a line also behind punctuation or anywhere.
func wrapped(line string, width, indent int) []string {
	var lines []string
	current, fresh := "", true // fresh: the line has no word yet
	end := func(part string) {
		lines = append(lines, strings.TrimRight(current+part, " "))
		current = strings.Repeat(" ", indent)
	}
	for _, word := range strings.Split(line, " ") {
		used, breaks := Cells(current), Cells(word) > width-indent && !strings.Contains(word, "\x1b")
		switch {
		case fresh:
		case used >= width || used+1+Cells(word) > width && !breaks:
			end("")
		default:
			current += " "
		}
		for breaks && Cells(current)+Cells(word) > width {
			head, rest := breakWord([]rune(word), width-Cells(current), width-indent)
			end(head)
			word = rest
		}
		current, fresh = current+word, false
	}
	return append(lines, strings.TrimRight(current, " "))
}

// breakWord takes what fits into room cells from the front of a word. Where that would break it in the middle, it takes
// nothing, unless the next line has no more room.
func breakWord(word []rune, room, next int) (head, rest string) {
	for i := room; i > room/2; i-- {
		if strings.ContainsRune("-/,", word[i-1]) {
			return string(word[:i]), string(word[i:])
		}
	}
	if room < next {
		return "", string(word)
	}
	return string(word[:room]), string(word[room:])
}

// Cells is the width of words on a terminal.
func Cells(words string) int { return text.StringWidthWithoutEscSequences(words) }
