// SPDX-License-Identifier: Apache-2.0

package show

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Gap is the number of blanks between two columns.
const Gap = 2

// Column is one column of a table over values of T.
type Column[T any] struct {
	header   string
	cell     func(T) string
	least    int  // a terminal may narrow the column to this width; 0: never
	optional bool // left out of a terminal that is too narrow for all columns, the last column first
}

// Col makes a column that is always shown whole.
func Col[T any](header string, cell func(T) string) Column[T] {
	return Column[T]{header: header, cell: cell}
}

// Wraps lets the column wrap its cells down to a width of least.
func (c Column[T]) Wraps(least int) Column[T] {
	c.least = max(least, len(c.header))
	return c
}

// Spare lets a narrow terminal do without the column.
func (c Column[T]) Spare() Column[T] {
	c.optional = true
	return c
}

// Table writes rows without borders, so that they read well and cut well. A terminal gets lines that fit it; with
// -o wide, and in any other output, there are all columns, and one line for each row.
func Table[T any](w io.Writer, screen Screen, columns []Column[T], rows []T) {
	First(w, screen, columns, rows, 0)
}

// Screenful is the number of lines of a long list that a terminal gets.
const Screenful = 40

// First is printTable of the rows that fit into that many lines of a terminal; 0: all. It returns how many
// rows were left out.
func First[T any](w io.Writer, screen Screen, columns []Column[T], rows []T, lines int) (more int) {
	cells := cellsFor(columns, rows)
	l := newLayout(columns, cells)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", Gap)
	style.Box.UnfinishedRow = ""
	style.Format.Header = text.FormatUpper
	if screen.Terminal && !screen.Wide {
		l.fit(screen.Width())
		style.Size.WidthMax = screen.Width()
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
		header = append(header, screen.Paint(strings.ToUpper(l.columns[i].header), text.Faint))
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

func cellsFor[T any](columns []Column[T], rows []T) [][]string {
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range columns {
			cells[i] = append(cells[i], wording.Dash(c.cell(row)))
		}
	}
	return cells
}

// naturalWidth is the width of a table with all columns whole.
func naturalWidth[T any](columns []Column[T], rows []T) int {
	return newLayout(columns, cellsFor(columns, rows)).sum(func(s shape) int { return s.natural })
}
