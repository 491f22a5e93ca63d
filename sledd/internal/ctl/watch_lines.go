// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// lineView prints a line for each change of a node's phase, step or tenth of a step: for logs and pipes.
type lineView struct {
	*app
	last  map[string]string // by MAC: what was printed last
	shown string            // trouble that was printed last
}

func (v *lineView) draw(nodes []api.Node, trouble error) {
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

func (v *lineView) end() {}

// lineKey changes when a new line is due.
func lineKey(n api.Node) string {
	s, tenth := n.Status, int64(0)
	if s.Progress != nil {
		tenth = percent(s.Progress) / 10
	}
	return fmt.Sprint(s.Phase, " ", generationText(n), " ", s.Step, " ", tenth, " ", s.Reason)
}

func line(n api.Node) string {
	words := fmt.Sprintf("%s %s generation %s", nodeName(n), phaseName(n.Status.Phase), dash(generationText(n)))
	if note := noteText(n); note != "" {
		words += " " + note
	}
	if p := n.Status.Progress; p != nil && n.Status.Phase.Working() {
		if left := timeLeft(p); left != "" {
			words += " " + left
		}
	}
	return words
}
