// SPDX-License-Identifier: Apache-2.0

package show

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Cells of a bar.
const (
	BarFull  = "━"
	BarEmpty = "─"
)

// Bar draws done of total in width cells; the bar of an unknown total is empty.
func Bar(done, total int64, width int) string {
	full := 0
	if total > 0 {
		full = int(min(max(done, 0), total) * int64(width) / total)
	}
	return strings.Repeat(BarFull, full) + strings.Repeat(BarEmpty, width-full)
}

// Fit cuts or pads words to width cells, not counting colours.
func Fit(words string, width int) string {
	if text.StringWidthWithoutEscSequences(words) > width {
		words = text.Snip(words, width, "…")
	}
	return text.Pad(words, width, ' ')
}

// PhaseCell is the width of phases.
const PhaseCell = len("operational")
