// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// AtWork reports whether a node of the phase is on its way to another one.
func AtWork(phase api.Phase) bool { return phase != "" && phase != api.UnderRescue && !phase.Settled() }

// Fleet describes a fleet in one sentence, what is urgent first.
func Fleet(count api.SummaryCount) string {
	failed, working := count.Phases[string(api.Failed)], 0
	for _, phase := range api.Phases() {
		if AtWork(phase) {
			working += count.Phases[string(phase)]
		}
	}
	var words []string
	if failed > 0 {
		words = append(words, fmt.Sprintf("%d of %s failed", failed, Nodes(count.Nodes)))
	}
	if count.Overdue > 0 {
		words = append(words, fmt.Sprintf("%d overdue", count.Overdue))
	}
	if working > 0 {
		words = append(words, fmt.Sprintf("%d at work", working))
	}
	switch {
	case count.Nodes == 0:
		return "No machine has booted from this server yet"
	case failed > 0:
		return strings.Join(words, ", ")
	case len(words) > 0:
		return strings.Join(words, ", ") + fmt.Sprintf(", none of %s failed", Nodes(count.Nodes))
	case count.Phases[string(api.Operational)] == count.Nodes:
		return fmt.Sprintf("All %s operational", Nodes(count.Nodes))
	}
	return fmt.Sprintf("None of %s failed, none is at work", Nodes(count.Nodes))
}

// Requested describes what a binding requests of a node, and what becomes of its disks. The disks are those that the
// node has reported.
func Requested(n api.Node, disks api.NodeDisks) string {
	b := n.Binding
	switch {
	case b == nil && n.Status.Image == "":
		return "nothing is requested"
	case b == nil:
		return "nothing is requested; image " + n.Status.Image + " stays on its disk"
	case b.Generation <= n.Status.Generation && b.Satisfied:
		return fmt.Sprintf("%s, generation %d, is requested: done", Request(*b), b.Generation)
	case b.Generation <= n.Status.Generation:
		return fmt.Sprintf("%s, generation %d, is requested: not done yet", Request(*b), b.Generation)
	}
	text := Effect(n)
	var chosen []string
	for _, d := range disks.Disks {
		if d.Chosen {
			chosen = append(chosen, d.String())
		}
	}
	if len(chosen) == 1 && !b.WipesAll() {
		text = strings.Replace(text, "its disk", chosen[0], 1)
	} else if len(chosen) > 0 {
		text += ": " + strings.Join(chosen, ", ")
	}
	return text
}
