// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// rowsIn returns the number of rows that fit into that many lines, at least one.
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

// shape is a column, as a layout sees it.
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

func newLayout[T any](columns []Column[T], cells [][]string) *layout {
	l := &layout{}
	for i, c := range columns {
		s := shape{header: c.header, least: c.least, natural: len(c.header), optional: c.optional, empty: len(cells) > 0}
		for _, row := range cells {
			s.natural = max(s.natural, Cells(row[i]))
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
	sum := Gap * max(len(l.shown)-1, 0)
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
		_, _ = fmt.Fprintln(w, screen.Paint(screen.Hang(line, 1), text.Faint))
	}
}
