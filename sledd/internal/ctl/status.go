// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

const statusLong = `Prints one line for each node, the number of nodes by phase, and the alarms that
nobody has acknowledged. "1 -> 2" means: generation 1 was observed, generation 2
is requested. The same holds for images. Of more than 40 nodes, a terminal gets
the most urgent, or the first of another order (--sort), on one screen.

With --by, it prints one line for each group of nodes instead: those with the
same value of a label, model, image or phase. WORKING counts those from booting
to starting, WAITING those that wait for an operator or a binding, DRIFT those
that do not have what their binding requests. -o json has each phase.

A node is overdue if it stands still longer than its phase allows: it neither
leaves the phase, nor does its step move bytes.`

func (a *app) statusCommand() *cobra.Command {
	var filter api.Filter
	by := ""
	command := &cobra.Command{
		Use: "status [NODE...]", Short: "Show the observed and the requested state of nodes",
		Long: statusLong,
		Example: `  sledctl status
  sledctl status --failed -l rack=a
  sledctl status --drift
  sledctl status --overdue
  sledctl status --by rack`,
		ValidArgsFunction: a.completeNodes, Annotations: printsNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			selects := cmd.Flags().Changed("failed") || filter.Drift || filter.Overdue
			if len(args) > 0 && (by != "" || selects || filter.Sort != "") {
				return usagef("NODE excludes --by, --failed, --drift, --overdue and --sort")
			}
			if by != "" && filter.Sort != "" {
				return usagef("--by excludes --sort: groups are in the order of their value")
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			if by != "" {
				return a.summary(cmd.Context(), client, by, filter)
			}
			if len(args) == 0 && a.isShort() {
				return a.shortStatus(cmd.Context(), client, filter)
			}
			nodes, err := selectNodes(cmd.Context(), client, args, filter)
			if err != nil {
				return err
			}
			return a.show(nodes, func() { a.statusTable(nodes) })
		},
	}
	addFilters(command, &filter)
	addSort(command, &filter)
	command.Flags().StringVar(&by, "by", "", "one line for each value of a label, or for each model, image or phase")
	_ = command.RegisterFlagCompletionFunc("by",
		cobra.FixedCompletions([]string{api.ByModel, api.ByImage, api.ByPhase}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// selectNodes reads the named nodes, or all that match the filter.
func selectNodes(ctx context.Context, client *api.Client, names []string, filter api.Filter) ([]api.Node, error) {
	if len(names) == 0 {
		return api.Collect(client.Nodes(ctx, filter))
	}
	nodes := make([]api.Node, 0, len(names))
	for _, name := range names {
		node, err := client.Node(ctx, name)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// shortStatus prints the nodes on one screen: of many, those that are first by urgency or another order, and the number
// of the others. Only what is shown is requested.
func (a *app) shortStatus(ctx context.Context, client *api.Client, filter api.Filter) error {
	sum, err := client.Summary(ctx, api.ByPhase, filter)
	if err != nil {
		return err
	}
	if !a.isLong(sum.Total.Nodes) {
		nodes, err := selectNodes(ctx, client, nil, filter)
		if err != nil {
			return err
		}
		return a.show(nodes, func() { a.statusTable(nodes) })
	}
	filter.Sort, filter.Limit = cmp.Or(filter.Sort, api.SortUrgency), screenful
	nodes, err := api.First(client.Nodes(ctx, filter), screenful)
	if err != nil {
		return err
	}
	return a.show(nodes, func() {
		left := printFirst(a.Out, a.Screen, a.statusColumns(), nodes, screenful)
		a.notShown(sum.Total.Nodes-len(nodes)+left, "--failed, --overdue, --drift, --by LABEL or -o wide")
		_, _ = fmt.Fprintf(a.Out, "\n%s\n", a.Screen.hang(countText(sum.Total, a.Screen), 2))
	})
}

func (a *app) statusColumns() []column[api.Node] {
	return []column[api.Node]{
		col("name", a.nameCell).wraps(12),
		col("mac", func(n api.Node) string { return n.MAC }).spare(),
		col("phase", func(n api.Node) string { return a.Screen.phaseText(n.Status.Phase) }),
		col("generation", generationText).spare(),
		col("image", imageText).wraps(14),
		col("since", func(n api.Node) string { return age(a.Now(), n.Status.Since) }),
		col("reason", noteText).wraps(30),
	}
}

// statusTable prints the nodes, their number by phase, their alarms and what to do.
func (a *app) statusTable(nodes []api.Node) {
	printTable(a.Out, a.Screen, a.statusColumns(), nodes)
	if len(nodes) > 1 {
		_, _ = fmt.Fprintf(a.Out, "\n%s\n", a.Screen.hang(summary(nodes, a.Screen), 2))
	}
	for _, node := range nodes {
		for _, alarm := range node.Alarms {
			a.alarmLine(nodeName(node), alarm)
		}
	}
	for _, node := range nodes {
		a.hint(node)
	}
}

// isShort reports whether a table gets one screen only.
func (a *app) isShort() bool { return a.output == "table" && a.Screen.Terminal && !a.Screen.Wide }

// isLong reports whether a table of so many rows gets one screen only.
func (a *app) isLong(rows int) bool { return rows > screenful && a.isShort() }

// notShown states how many nodes a terminal did not get, and what shows them.
func (a *app) notShown(more int, use string) {
	line := fmt.Sprintf("(%d more nodes are not shown; use %s)", more, use)
	_, _ = fmt.Fprintln(a.Out, a.Screen.paint(a.Screen.hang(line, 1), text.Faint))
}

// nameCell is the name of a node. On a terminal, which may have no room for the MAC, that stands for a missing name.
func (a *app) nameCell(n api.Node) string {
	if a.Screen.Terminal && !a.Screen.Wide {
		return nodeName(n)
	}
	return n.Name
}

// generationText is the observed generation, and the requested one if that differs.
func generationText(n api.Node) string {
	observed := strconv.FormatInt(n.Status.Generation, 10)
	if n.Binding == nil && n.Status.Generation == 0 {
		return ""
	}
	if n.Binding == nil || n.Binding.Generation == n.Status.Generation {
		return observed
	}
	return observed + " -> " + strconv.FormatInt(n.Binding.Generation, 10)
}

func imageText(n api.Node) string {
	switch {
	case n.Binding == nil || n.Binding.Satisfied:
		return n.Status.Image
	case n.Binding.Image == n.Status.Image && n.Binding.Image != "":
		return n.Status.Image
	}
	return dash(n.Status.Image) + " -> " + requestText(*n.Binding)
}

// noteText explains the phase of a node: the reason of a failure, the progress of the running step, or the detail of
// the last one.
func noteText(n api.Node) string {
	if n.Overdue > 0 {
		late, status := "overdue for "+durationText(time.Duration(n.Overdue)*time.Second), n.Status
		if status.Progress != nil { // the rate was that of a step that moved
			status.Progress = &api.Progress{Bytes: status.Progress.Bytes, Total: status.Progress.Total}
		}
		return strings.TrimSuffix(late+": "+progressText(status), ": ")
	}
	if reason := reasonText(n.Status); reason != "" {
		return reason
	}
	if n.Rescue != nil {
		_, text, _ := strings.Cut(rescueText(n), ": ")
		return text
	}
	if n.Status.Phase.Working() {
		return progressText(n.Status)
	}
	if !n.Declared {
		return "not declared"
	}
	return detailText(n.Status)
}

// detailText is the detail of the last step. It is outdated once a node boots again or waits.
func detailText(s api.Status) string {
	switch s.Phase {
	case api.Discovered, api.Booting, api.Idle:
		return ""
	default:
		return s.Detail.String()
	}
}

// reasonText is the failure of a node, with the name of the exit code.
func reasonText(s api.Status) string {
	if s.Phase != api.Failed {
		return ""
	}
	var parts []string
	if s.Verb != "" {
		parts = append(parts, s.Verb)
	}
	if s.Code != 0 || s.Reason.IsZero() {
		parts = append(parts, codeName(s.Code))
	}
	if !s.Reason.IsZero() {
		parts = append(parts, s.Reason.String())
	}
	return strings.Join(parts, ": ")
}

func stepText(s api.Status) string {
	if s.Steps == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d %s", s.Step, s.Steps, s.Verb)
}

func progressText(s api.Status) string {
	words := []string{stepText(s)}
	if p := s.Progress; p != nil {
		if p.Total > 0 {
			words = append(words, fmt.Sprintf("%d%%", percent(p)))
		}
		words = append(words, bytesText(p.Bytes))
		if p.Rate > 0 {
			words = append(words, bytesText(p.Rate)+"/s")
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// summary counts the nodes by phase.
func summary(nodes []api.Node, screen Screen) string {
	var count api.SummaryCount
	for _, node := range nodes {
		count.Add(node.Status.Phase, false, node.Overdue > 0)
	}
	return countText(count, screen)
}

// countText is a number of nodes by phase, the most frequent first.
func countText(count api.SummaryCount, screen Screen) string {
	nodes := map[api.Phase]int{"": count.Phases[api.Unseen]}
	for _, phase := range api.Phases() {
		nodes[phase] = count.Phases[string(phase)]
	}
	phases := append(slices.Clone(api.Phases()), "")
	slices.SortStableFunc(phases, func(x, y api.Phase) int { return nodes[y] - nodes[x] })
	var parts []string
	for _, phase := range phases {
		if nodes[phase] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", nodes[phase], screen.phaseText(phase)))
		}
	}
	if count.Overdue > 0 {
		parts = append(parts, fmt.Sprintf("%d of them overdue", count.Overdue))
	}
	noun := "nodes"
	if count.Nodes == 1 {
		noun = "node"
	}
	return fmt.Sprintf("%d %s: %s", count.Nodes, noun, strings.Join(parts, ", "))
}

// hint prints the commands that a node needs: those of its admission, and the one that shows more of a failed or
// discovered node.
func (a *app) hint(n api.Node) {
	a.admissionHint(n)
	name := n.Name
	if name == "" {
		name = n.MAC
	}
	var text string
	switch {
	case n.Status.Phase == api.Failed && n.Status.Code == api.CodeDisk:
		text = "no disk was touched; for all disks and why each was refused: sledctl log " + name
	case n.Status.Phase == api.Failed && n.Status.Code != 0:
		text = "for the log of the step: sledctl log " + name
	case n.Status.Phase == api.Discovered && !n.Declared:
		text = fmt.Sprintf("for its hardware: sledctl node get %s; to accept it: sledctl node accept %s --name NAME",
			name, n.MAC)
	default:
		return
	}
	_, _ = fmt.Fprintln(a.Err, a.Screen.hang(name+": "+text, 2))
}
