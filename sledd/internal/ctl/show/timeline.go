// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Widths of a timeline, in cells.
const (
	stageName  = 11 // cells, "configure" and a gap
	stageTime  = 10 // cells, "12345.6 s"
	stageRate  = 12 // cells, "  12345 MB/s"
	WidestBars = 100
)

// Timeline draws one bar for each stage, placed within the run.
func (p *Printer) Timeline(t api.Timeline) {
	s := p.Screen
	generation := fmt.Sprintf("generation %d", t.Generation)
	head := []string{s.Paint(wording.Dash(t.Name), text.Bold), t.MAC, generation, s.Phase(t.Phase), wording.Time(t.Begin)}
	_, _ = fmt.Fprintln(p.Out, s.Hang(strings.TrimSpace(strings.Join(head, "  ")), 2))
	if len(t.Stages) == 0 {
		_, _ = fmt.Fprintln(p.Out, "  no run yet")
		return
	}
	width := min(s.Width()-stageName-stageTime-stageRate-3, WidestBars)
	rated := s.Width() > stageName+stageTime+stageRate+12
	for _, stage := range t.Stages {
		before, length := stageBar(t, stage, max(width, 10))
		drawn := strings.Repeat(" ", before) + s.Paint(strings.Repeat(BarFull, length), stageColours[stage.Name]...)
		rate := ""
		if rated {
			rate = rateText(stage.Rate)
		}
		drawn = text.Pad(drawn, max(width, 10), ' ')
		_, _ = fmt.Fprintf(p.Out, "  %-*s%s%s%s\n", stageName, stage.Name, drawn, secondsText(stage.Seconds), rate)
		if stage.Received != nil {
			indent := strings.Repeat(" ", stageName+2)
			_, _ = fmt.Fprintln(p.Out, s.Hang(indent+wording.Received(stage.Received), stageName+2))
		}
	}
	_, _ = fmt.Fprintf(p.Out, "  %-*s%s%s\n",
		stageName, "total", strings.Repeat(" ", max(width, 10)), secondsText(t.Total))
}

// secondsText fills a cell.
func secondsText(seconds float64) string {
	return fmt.Sprintf("%*s", stageTime, wording.Seconds(seconds))
}

// rateText is the rate of a stage; empty if unknown.
func rateText(rate int64) string {
	if rate <= 0 {
		return ""
	}
	return fmt.Sprintf("%*.0f MB/s", stageRate-5, float64(rate)/1e6)
}

// stageBar places a stage on the width cells of the whole run. A stage of any duration has at least one cell.
func stageBar(t api.Timeline, stage api.Stage, width int) (before, length int) {
	if t.Total <= 0 {
		return 0, 0
	}
	scale := float64(width) / t.Total
	before = min(max(int(stage.Begin.Sub(t.Begin).Seconds()*scale+0.5), 0), width-1)
	length = int(stage.Seconds*scale + 0.5)
	if stage.Seconds > 0 {
		length = max(length, 1)
	}
	return before, min(length, width-before)
}
