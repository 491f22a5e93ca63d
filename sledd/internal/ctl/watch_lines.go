// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// lineView prints a line whenever a node's phase, step or tenth of a step changes: for logs and pipes.
type lineView struct {
	*app
	last map[string]string // by MAC: what was printed last
	told string            // trouble that was printed last
}

func (v *lineView) draw(nodes []api.Node, trouble error) {
	now := v.Now().Local().Format(time.TimeOnly)
	told := ""
	if trouble != nil {
		told = trouble.Error()
	}
	if told != v.told {
		if told != "" {
			_, _ = fmt.Fprintf(v.Out, "%s %s\n", now, told)
		}
		v.told = told
	}
	for _, node := range nodes {
		if key := lineKey(node); key != v.last[node.MAC] {
			v.last[node.MAC] = key
			_, _ = fmt.Fprintf(v.Out, "%s %s\n", now, line(node))
		}
	}
}

func (v *lineView) end() {}

// lineKey changes when a line is worth printing.
func lineKey(n api.Node) string {
	s, tenth := n.Status, int64(0)
	if s.Progress != nil {
		tenth = percent(s.Progress) / 10
	}
	return fmt.Sprint(s.Phase, " ", generationText(n), " ", s.Step, " ", tenth, " ", s.Reason)
}

func line(n api.Node) string {
	name := n.Name
	if name == "" {
		name = n.MAC
	}
	words := fmt.Sprintf("%s %s generation %s", name, dash(string(n.Status.Phase)), generationText(n))
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
