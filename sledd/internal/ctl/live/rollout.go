// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// rolloutLive draws a rollout: its head, the running nodes, the failures.
type rolloutLive struct{ liveView }

func (v *rolloutLive) show(r api.Rollout, nodes []api.Node, trouble error) {
	width, height := v.Screen.Size()
	width = max(width-1, narrowest)
	var rows []string
	if r.Name != "" {
		rows = v.head(r, width)
		room := height - len(rows) - 2
		if len(nodes) > 0 {
			room /= 2
		}
		failures := v.failures(r, width, room)
		if len(nodes) > 0 {
			rows = append(rows, "")
			rows = append(rows, v.rows(nodes, width, max(height-len(rows)-len(failures)-2, 1))...)
		}
		rows = append(rows, failures...)
	}
	if trouble != nil {
		rows = append(rows, show.Fit(v.Screen.Paint(trouble.Error()+"; retrying", text.FgRed), width))
	}
	v.paintRows(rows)
}

// head is the rollout in three rows: what, where, and a bar of all its nodes.
func (v *rolloutLive) head(r api.Rollout, width int) []string {
	state := v.Screen.RolloutState(r)
	if !r.Reason.IsZero() {
		state += ": " + v.Screen.Paint(r.Reason.String(), text.FgRed)
	}
	return []string{
		show.Fit(fmt.Sprintf("%s  %s  %s", v.Screen.Paint(r.Name, text.Bold), wording.Clean(r.Desired), state), width),
		show.Fit(fmt.Sprintf("%s   %s", v.RolloutCounts(r), wording.Clock(wording.RolloutTook(r, v.Now()))), width),
		v.whole(r.Counts, min(width, show.WidestBars)),
	}
}

// whole is one bar of all nodes: done, failed, running, waiting.
func (v *rolloutLive) whole(c api.RolloutCount, width int) string {
	all := c.Done + c.Failed + c.Running + c.Waiting
	drawn, cells, nodes := "", 0, 0
	for _, part := range []struct {
		nodes   int
		cell    string
		colours text.Colors
	}{
		{c.Done, show.BarFull, text.Colors{text.FgGreen}}, {c.Failed, show.BarFull, text.Colors{text.FgRed}},
		{c.Running, "╍", text.Colors{text.FgCyan}}, {c.Waiting, show.BarEmpty, text.Colors{text.Faint}},
	} {
		nodes += part.nodes
		until := nodes * width / max(all, 1)
		drawn += v.Screen.Paint(strings.Repeat(part.cell, until-cells), part.colours...)
		cells = until
	}
	return drawn
}

// failures are the newest failed nodes with their reasons, as far as there is room.
func (v *rolloutLive) failures(r api.Rollout, width, room int) []string {
	var failed []api.NodeRun
	for _, run := range r.Runs {
		if run.State == api.RunFailed {
			failed = append(failed, run)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	slices.SortStableFunc(failed, func(x, y api.NodeRun) int { return y.End.Compare(x.End) })
	rows := []string{""}
	for i, run := range failed {
		of := v.failure(run, width)
		if i > 0 && len(rows)+len(of) >= room {
			more := fmt.Sprintf("and %d more failed: sledctl rollout report %s", len(failed)-i, r.Name)
			return append(rows, v.Screen.Paint(show.Fit(more, width), text.Faint))
		}
		rows = append(rows, of...)
	}
	return rows
}

// failure is one failed node, in one or two rows: the reason matters most.
func (v *rolloutLive) failure(run api.NodeRun, width int) []string {
	words := fmt.Sprintf("✗ %s (wave %d%s): %s", run.Node, run.Wave, wording.Around(", ", run.EntryMethod, ""),
		run.Reason.String())
	words = strings.Join(strings.Fields(words), " ") // as WrapSoft does
	first, _, _ := strings.Cut(text.WrapSoft(words, width), "\n")
	first = strings.TrimRight(first, " ")
	rows := []string{v.Screen.Paint(show.Fit(first, width), text.FgRed)}
	if rest := strings.TrimSpace(strings.TrimPrefix(words, first)); rest != "" {
		rows = append(rows, v.Screen.Paint(show.Fit("  "+rest, width), text.FgRed))
	}
	return rows
}
