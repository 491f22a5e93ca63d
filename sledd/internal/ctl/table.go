// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// gap is the number of blanks between two columns.
const gap = 2

// column is one column of a table over values of T.
type column[T any] struct {
	header   string
	cell     func(T) string
	least    int  // a terminal may narrow the column to this width; 0: never
	optional bool // left out of a terminal that is too narrow for all columns, the last column first
}

// col makes a column that is always shown whole.
func col[T any](header string, cell func(T) string) column[T] {
	return column[T]{header: header, cell: cell}
}

// wraps lets the column wrap its cells down to a width of least.
func (c column[T]) wraps(least int) column[T] {
	c.least = max(least, len(c.header))
	return c
}

// spare lets a narrow terminal do without the column.
func (c column[T]) spare() column[T] {
	c.optional = true
	return c
}

// printTable writes rows without borders, so that they read well and cut well. A terminal gets lines that fit it; with
// -o wide, and in any other output, there are all columns, and one line for each row.
func printTable[T any](w io.Writer, screen Screen, columns []column[T], rows []T) {
	printFirst(w, screen, columns, rows, 0)
}

// screenful is how many lines of a long list a terminal gets.
const screenful = 40

// printFirst is printTable of the rows that fit into that many lines of a terminal; 0: all. It returns how many
// rows were left out.
func printFirst[T any](w io.Writer, screen Screen, columns []column[T], rows []T, lines int) (more int) {
	cells := cellsFor(columns, rows)
	l := newLayout(columns, cells)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Box.UnfinishedRow = ""
	style.Format.Header = text.FormatUpper
	if screen.Terminal && !screen.Wide {
		l.fit(screen.width())
		style.Size.WidthMax = screen.width()
		t.SetColumnConfigs(l.configs())
		if lines > 0 {
			more = len(rows) - l.rowsIn(lines, cells)
			cells = cells[:len(rows)-more]
		}
	}
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	header := table.Row{}
	for _, i := range l.shown {
		header = append(header, screen.paint(strings.ToUpper(l.columns[i].header), text.Faint))
	}
	t.AppendHeader(header)
	for _, row := range cells {
		line := table.Row{}
		for _, i := range l.shown {
			line = append(line, row[i])
		}
		t.AppendRow(line)
	}
	t.Render()
	l.note(w, screen)
	return more
}

// rowsIn is how many rows fit into that many lines, and at least one.
func (l *layout) rowsIn(lines int, cells [][]string) int {
	for at, row := range cells {
		height := 1
		for _, i := range l.shown {
			height = max(height, 1+strings.Count(wrap(row[i], l.columns[i].width), "\n"))
		}
		if lines -= height; lines < 0 {
			return max(at, 1)
		}
	}
	return len(cells)
}

func cellsFor[T any](columns []column[T], rows []T) [][]string {
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range columns {
			cells[i] = append(cells[i], dash(c.cell(row)))
		}
	}
	return cells
}

// naturalWidth is the width of a table with all columns whole.
func naturalWidth[T any](columns []column[T], rows []T) int {
	return newLayout(columns, cellsFor(columns, rows)).sum(func(s shape) int { return s.natural })
}

// shape is what a layout needs to know of a column.
type shape struct {
	header   string
	least    int
	natural  int // width of the widest cell
	width    int
	optional bool
	empty    bool // no row has a value
}

// layout decides which columns are shown, and how wide.
type layout struct {
	columns []shape
	shown   []int
}

func newLayout[T any](columns []column[T], cells [][]string) *layout {
	l := &layout{}
	for i, c := range columns {
		s := shape{header: c.header, least: c.least, natural: len(c.header), optional: c.optional, empty: len(cells) > 0}
		for _, row := range cells {
			s.natural = max(s.natural, cellsOf(row[i]))
			s.empty = s.empty && row[i] == "-"
		}
		if s.least == 0 || s.least > s.natural {
			s.least = s.natural
		}
		s.width = s.natural
		l.columns = append(l.columns, s)
		l.shown = append(l.shown, i)
	}
	return l
}

// fit leaves out optional columns without a value, then narrows columns, then leaves out further optional ones.
func (l *layout) fit(width int) {
	for l.sum(func(s shape) int { return s.natural }) > width && l.leaveOut(true) {
		continue
	}
	for l.sum(func(s shape) int { return s.least }) > width && l.leaveOut(false) {
		continue
	}
	for l.sum(func(s shape) int { return s.width }) > width && l.narrow() {
		continue
	}
}

func (l *layout) sum(of func(shape) int) int {
	sum := gap * max(len(l.shown)-1, 0)
	for _, i := range l.shown {
		sum += of(l.columns[i])
	}
	return sum
}

// leaveOut takes the last optional column away.
func (l *layout) leaveOut(onlyEmpty bool) bool {
	for at, i := range slices.Backward(l.shown) {
		if l.columns[i].optional && (l.columns[i].empty || !onlyEmpty) {
			l.shown = slices.Delete(l.shown, at, at+1)
			return true
		}
	}
	return false
}

// narrow takes one cell from the widest column that may lose it.
func (l *layout) narrow() bool {
	widest := -1
	for _, i := range l.shown {
		s := l.columns[i]
		if s.width > s.least && (widest < 0 || s.width > l.columns[widest].width) {
			widest = i
		}
	}
	if widest >= 0 {
		l.columns[widest].width--
	}
	return widest >= 0
}

func (l *layout) configs() []table.ColumnConfig {
	var configs []table.ColumnConfig
	for at, i := range l.shown {
		configs = append(configs, table.ColumnConfig{Number: at + 1, WidthMax: l.columns[i].width, WidthMaxEnforcer: wrap})
	}
	return configs
}

// note names the columns that are missing, where one of them has a value.
func (l *layout) note(w io.Writer, screen Screen) {
	var names []string
	for i, s := range l.columns {
		if !slices.Contains(l.shown, i) && !s.empty {
			names = append(names, s.header)
		}
	}
	if len(names) > 0 {
		line := fmt.Sprintf("(not shown at this width: %s; use -o wide)", strings.Join(names, ", "))
		_, _ = fmt.Fprintln(w, screen.paint(screen.hang(line, 1), text.Faint))
	}
}

// wrap breaks a cell into lines of at most width.
func wrap(words string, width int) string { return strings.Join(wrapped(words, width, 0), "\n") }

// hang wraps a line for a terminal; the lines that follow the first are indented. Other outputs get the line as it is.
func (s Screen) hang(line string, indent int) string {
	if !s.Terminal {
		return line
	}
	return strings.Join(wrapped(line, max(s.width(), indent+8), indent), "\n")
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
		used, breaks := cellsOf(current), cellsOf(word) > width-indent && !strings.Contains(word, "\x1b")
		switch {
		case fresh:
		case used >= width || used+1+cellsOf(word) > width && !breaks:
			end("")
		default:
			current += " "
		}
		for breaks && cellsOf(current)+cellsOf(word) > width {
			head, rest := breakWord([]rune(word), width-cellsOf(current), width-indent)
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

// cellsOf is the width of words on a terminal.
func cellsOf(words string) int { return text.StringWidthWithoutEscSequences(words) }
