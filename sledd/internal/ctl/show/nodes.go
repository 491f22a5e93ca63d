// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// NodeColumns returns the columns of a list of nodes.
func (p *Printer) NodeColumns() []Column[api.Node] {
	return []Column[api.Node]{
		Col("name", p.nameCell).Wraps(12),
		Col("mac", func(n api.Node) string { return n.MAC }),
		Col("phase", func(n api.Node) string { return p.Screen.Phase(n.Status.Phase) }),
		Col("admission", p.admissionText),
		Col("alarms", wording.AlarmKinds).Spare(),
		Col("architecture", wording.Architecture).Spare(),
		Col("disk", func(n api.Node) string { return n.Disk }).Wraps(12).Spare(),
		Col("bmc", func(n api.Node) string { return wording.BMC(n.BMC) }).Wraps(12).Spare(),
		Col("labels", func(n api.Node) string { return wording.Labels(n.Labels) }).Wraps(12).Spare(),
	}
}

// StatusColumns returns the columns of the status of nodes.
func (p *Printer) StatusColumns() []Column[api.Node] {
	return []Column[api.Node]{
		Col("name", p.nameCell).Wraps(12),
		Col("mac", func(n api.Node) string { return n.MAC }).Spare(),
		Col("phase", func(n api.Node) string { return p.Screen.Phase(n.Status.Phase) }),
		Col("generation", wording.Generation).Spare(),
		Col("image", wording.Image).Wraps(14),
		Col("since", func(n api.Node) string { return wording.Age(p.Now(), n.Status.Since) }),
		Col("reason", wording.Note).Wraps(30),
	}
}

// Status prints the nodes, their number by phase, their alarms and what to do.
func (p *Printer) Status(nodes []api.Node) {
	Table(p.Out, p.Screen, p.StatusColumns(), nodes)
	if len(nodes) > 1 {
		_, _ = fmt.Fprintf(p.Out, "\n%s\n", p.Screen.Hang(PhaseCounts(nodes, p.Screen), 2))
	}
	for _, node := range nodes {
		for _, alarm := range node.Alarms {
			p.AlarmLine(wording.NodeName(node), alarm)
		}
	}
	for _, node := range nodes {
		p.Hint(node)
	}
}

// NotShown states how many nodes a terminal did not get, and what shows them.
func (p *Printer) NotShown(more int, use string) {
	line := fmt.Sprintf("(%d more nodes are not shown; use %s)", more, use)
	_, _ = fmt.Fprintln(p.Out, p.Screen.Paint(p.Screen.Hang(line, 1), text.Faint))
}

// nameCell is the name of a node. On a terminal, which may have no room for the MAC, that stands for a missing name.
func (p *Printer) nameCell(n api.Node) string {
	if p.Screen.Terminal && !p.Screen.Wide {
		return wording.NodeName(n)
	}
	return n.Name
}

// PhaseCounts counts the nodes by phase.
func PhaseCounts(nodes []api.Node, screen Screen) string {
	var count api.SummaryCount
	for _, node := range nodes {
		count.Add(node.Status.Phase, false, node.Overdue > 0)
	}
	return CountText(count, screen)
}

// CountText is a number of nodes by phase, the most frequent first.
func CountText(count api.SummaryCount, screen Screen) string {
	nodes := map[api.Phase]int{"": count.Phases[api.Unseen]}
	for _, phase := range api.Phases() {
		nodes[phase] = count.Phases[string(phase)]
	}
	phases := append(slices.Clone(api.Phases()), "")
	slices.SortStableFunc(phases, func(x, y api.Phase) int { return nodes[y] - nodes[x] })
	var parts []string
	for _, phase := range phases {
		if nodes[phase] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", nodes[phase], screen.Phase(phase)))
		}
	}
	if count.Overdue > 0 {
		parts = append(parts, fmt.Sprintf("%d of them overdue", count.Overdue))
	}
	return wording.Nodes(count.Nodes) + ": " + strings.Join(parts, ", ")
}

// SummaryColumns returns the columns of a summary: phases in which a node works, or waits for an operator, are counted
// together.
func (p *Printer) SummaryColumns(header string) []Column[api.SummaryGroup] {
	in := func(header string, phases ...api.Phase) Column[api.SummaryGroup] {
		return Col(header, func(g api.SummaryGroup) string {
			nodes := 0
			for _, phase := range phases {
				nodes += g.Phases[string(phase)]
			}
			return wording.Count(nodes)
		})
	}
	failed := func(g api.SummaryGroup) string {
		return p.Screen.Paint(wording.Count(g.Phases[string(api.Failed)]), text.FgRed)
	}
	return []Column[api.SummaryGroup]{
		Col(wording.Clean(header), func(g api.SummaryGroup) string { return wording.Clean(g.Value) }).Wraps(24),
		Col("nodes", func(g api.SummaryGroup) string { return fmt.Sprint(g.Nodes) }),
		in(string(api.Operational), api.Operational),
		in("working", api.Booting, api.Wiping, api.Writing, api.Configuring, api.Capturing, api.Starting),
		in("waiting", api.Discovered, api.Idle, api.Wiped, api.Captured),
		Col("failed", failed),
		Col("drift", func(g api.SummaryGroup) string { return wording.Count(g.Drift) }),
		Col("overdue", func(g api.SummaryGroup) string { return wording.Count(g.Overdue) }).Spare(),
		in("rescue", api.UnderRescue).Spare(),
		in(string(api.Unconfirmed), api.Unconfirmed).Spare(),
		in(api.Unseen, api.Unseen).Spare(),
	}
}
