// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	narrowest = 40 // cells; narrower terminals wrap
	widestBar = 40
	wideName  = 24
	stepCell  = len("2/4")
	leastBar  = 8
)

// tails are the widest figures beside a bar, from all of them to the one that is always shown.
var tails = []string{
	"100%  999.99MB / 999.99MB  999.99MB/s  99:59:59 left",
	"100%  999.99MB/s  99:59:59 left",
	"100%  99:59:59 left",
	"100%",
}

// liveView draws one row for each node, and overwrites the rows at the next drawing.
type liveView struct {
	show.Printer
	begin time.Time
	drawn int // rows on the screen
}

// Draw overwrites the last drawing.
func (v *liveView) Draw(nodes []api.Node, trouble error) {
	width, height := v.Screen.Size()
	width = max(width-1, narrowest) // the last cell would wrap on some terminals
	rows := v.rows(nodes, width, max(height-3, 1))
	rows = append(rows, "", show.Fit(v.footer(nodes), width))
	if trouble != nil {
		rows = append(rows, show.Fit(v.Screen.Paint(trouble.Error()+"; retrying", text.FgRed), width))
	}
	v.paintRows(rows)
}

// paintRows overwrites the rows of the last drawing.
func (v *liveView) paintRows(rows []string) {
	var out strings.Builder
	if v.drawn > 0 {
		out.WriteString("\r" + text.CursorUp.Sprintn(v.drawn))
	}
	for _, row := range rows {
		out.WriteString(strings.TrimRight(row, " ") + text.EraseLine.Sprint() + "\n")
	}
	out.WriteString("\x1b[J") // erases what is left of a longer drawing
	_, _ = fmt.Fprint(v.Out, out.String())
	v.drawn = len(rows)
}

// End leaves the last drawing on the screen.
func (v *liveView) End() { v.drawn = 0 }

// rows are the nodes as far as there is room: failed and working ones before those at rest.
func (v *liveView) rows(nodes []api.Node, width, room int) []string {
	shown := nodes
	if len(nodes) > room {
		shown = slices.Clone(nodes)
		slices.SortStableFunc(shown, func(x, y api.Node) int { return urgency(y) - urgency(x) })
		shown = shown[:max(room-1, 1)]
	}
	wide := 0
	for _, node := range shown {
		wide = max(wide, len(wording.NodeName(node)))
	}
	wide = min(wide, wideName)
	var rows []string
	for _, node := range shown {
		rows = append(rows, v.row(node, wide, width))
	}
	if hidden := len(nodes) - len(shown); hidden > 0 {
		rows = append(rows, v.Screen.Paint(fmt.Sprintf("and %d more", hidden), text.Faint))
	}
	return rows
}

func urgency(n api.Node) int {
	switch {
	case n.Status.Phase == api.Failed:
		return 3
	case n.Status.Phase.Working():
		return 2
	case Judge(n) == Pending:
		return 1
	}
	return 0
}

// row is one node: name, phase, step, then what matters in its phase.
func (v *liveView) row(n api.Node, wide, width int) string {
	s := n.Status
	step := ""
	if s.Steps > 0 && (s.Phase.Working() || s.Phase == api.Failed) {
		step = fmt.Sprintf("%d/%d", s.Step, s.Steps)
	}
	name := show.Fit(v.Screen.Paint(wording.NodeName(n), text.Bold), wide)
	phase := show.Fit(v.Screen.Phase(s.Phase), show.PhaseCell)
	head := fmt.Sprintf("%s  %s  %s  ", name, phase, show.Fit(step, stepCell))
	room := width - wide - show.PhaseCell - stepCell - 6
	return show.Fit(head+v.note(n, room), width)
}

func (v *liveView) note(n api.Node, room int) string {
	s := n.Status
	since := ""
	if !s.Since.IsZero() {
		since = wording.Age(v.Now(), s.Since)
	}
	switch {
	case s.Phase == api.Failed:
		return v.Screen.Paint(wording.Reason(s), text.FgRed)
	case s.Phase.Working() && s.Progress != nil && s.Progress.Total > 0:
		return v.progress(s.Progress, room)
	case s.Phase.Working() || s.Phase == api.Booting || s.Phase == api.Starting:
		return "for " + since
	case s.Phase == "":
		return wording.RequestOf(n)
	case Judge(n) == Pending && n.Binding != nil:
		return fmt.Sprintf("generation %s, %s, for %s", wording.Generation(n), wording.Image(n), since)
	}
	return v.Screen.Paint(strings.TrimPrefix(wording.Dash(s.Image)+", for "+since, "-, "), text.Faint)
}

// progress is a bar and as many figures as there is room for. The bar shrinks first; then bytes, rate and remaining
// time are left out.
func (v *liveView) progress(p *api.Progress, room int) string {
	chosen := slices.IndexFunc(tails, func(tail string) bool { return room-len(tail)-2 >= leastBar })
	if chosen < 0 {
		chosen = len(tails) - 1
	}
	figures := fmt.Sprintf("%3d%%", wording.Percent(p))
	if chosen == 0 {
		figures += fmt.Sprintf("  %8s / %-8s", wording.Bytes(p.Bytes), wording.Bytes(p.Total))
	}
	if chosen <= 1 && p.Rate > 0 {
		figures += fmt.Sprintf("  %8s/s", wording.Bytes(p.Rate))
	}
	if left := wording.TimeLeft(p); chosen <= 2 && left != "" {
		figures += "  " + left
	}
	width := min(max(room-len(tails[chosen])-2, leastBar), widestBar)
	drawn := show.Bar(p.Bytes, p.Total, width)
	full := strings.Count(drawn, show.BarFull)
	cells := []rune(drawn)
	done, rest := v.Screen.Paint(string(cells[:full]), text.FgGreen), v.Screen.Paint(string(cells[full:]), text.Faint)
	return done + rest + "  " + figures
}

func (v *liveView) footer(nodes []api.Node) string {
	if len(nodes) == 0 {
		return "no nodes"
	}
	return fmt.Sprintf("%s   %s", show.PhaseCounts(nodes, v.Screen), wording.Clock(v.Now().Sub(v.begin)))
}
