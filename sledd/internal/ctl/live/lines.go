// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// lineView prints a line for each change of a node's phase, step or tenth of a step: for logs and pipes.
type lineView struct {
	show.Printer
	last  map[string]string // by MAC: what was printed last
	shown string            // trouble that was printed last
}

// Draw prints what has changed.
func (v *lineView) Draw(nodes []api.Node, trouble error) {
	now := v.Now().Local().Format(time.TimeOnly)
	message := ""
	if trouble != nil {
		message = trouble.Error()
	}
	if message != v.shown {
		if message != "" {
			_, _ = fmt.Fprintf(v.Out, "%s %s\n", now, message)
		}
		v.shown = message
	}
	for _, node := range nodes {
		if key := lineKey(node); key != v.last[node.MAC] {
			v.last[node.MAC] = key
			_, _ = fmt.Fprintf(v.Out, "%s %s\n", now, line(node))
		}
	}
}

// End does nothing: lines stay.
func (v *lineView) End() {}

// lineKey changes when a new line is due.
func lineKey(n api.Node) string {
	s, tenth := n.Status, int64(0)
	if s.Progress != nil {
		tenth = wording.Percent(s.Progress) / 10
	}
	return fmt.Sprint(s.Phase, " ", wording.Generation(n), " ", s.Step, " ", tenth, " ", s.Reason)
}

func line(n api.Node) string {
	words := fmt.Sprintf("%s %s generation %s", wording.NodeName(n), wording.Phase(n.Status.Phase),
		wording.Dash(wording.Generation(n)))
	if note := wording.Note(n); note != "" {
		words += " " + note
	}
	if p := n.Status.Progress; p != nil && n.Status.Phase.Working() {
		if left := wording.TimeLeft(p); left != "" {
			words += " " + left
		}
	}
	return words
}
