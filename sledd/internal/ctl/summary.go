// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
)

// summaryLines is how many groups a terminal gets.
const summaryLines = 50

// groupOf is what the API sums up by. Any other word is the key of a label.
func groupOf(by string) string {
	if slices.Contains([]string{api.ByModel, api.ByImage, api.ByPhase}, by) || strings.HasPrefix(by, api.ByLabel) {
		return by
	}
	return api.ByLabel + by
}

// summary prints one line for each group of nodes, and one for all. A terminal gets those that need attention first, if
// they are too many.
func (a *app) summary(ctx context.Context, client *api.Client, by string, filter api.Filter) error {
	by = groupOf(by)
	sum, err := client.Summary(ctx, by, filter)
	if err != nil {
		return err
	}
	return a.show(sum, func() {
		groups, more := sum.Groups, len(sum.Groups)-summaryLines
		if a.Screen.Terminal && more > 0 {
			slices.SortStableFunc(groups, func(x, y api.SummaryGroup) int {
				return cmp.Or(y.Phases[string(api.Failed)]-x.Phases[string(api.Failed)], y.Drift-x.Drift)
			})
			groups = groups[:summaryLines]
		}
		groups = append(slices.Clone(groups), api.SummaryGroup{Value: "all", SummaryCount: sum.Total})
		printTable(a.Out, a.Screen, a.summaryColumns(strings.TrimPrefix(by, api.ByLabel)), groups)
		if a.Screen.Terminal && more > 0 {
			line := fmt.Sprintf("(%d more groups with fewer failures are not shown; use -o json)", more)
			_, _ = fmt.Fprintln(a.Out, a.Screen.paint(a.Screen.hang(line, 1), text.Faint))
		}
	})
}

// summaryColumns is how a group is shown: phases in which a node works, or waits for an operator, are counted together.
func (a *app) summaryColumns(header string) []column[api.SummaryGroup] {
	in := func(header string, phases ...api.Phase) column[api.SummaryGroup] {
		return col(header, func(g api.SummaryGroup) string {
			nodes := 0
			for _, phase := range phases {
				nodes += g.Phases[string(phase)]
			}
			return nonzero(nodes)
		})
	}
	failed := func(g api.SummaryGroup) string {
		return a.Screen.paint(nonzero(g.Phases[string(api.Failed)]), text.FgRed)
	}
	return []column[api.SummaryGroup]{
		col(clean(header), func(g api.SummaryGroup) string { return clean(g.Value) }).wraps(24),
		col("nodes", func(g api.SummaryGroup) string { return fmt.Sprint(g.Nodes) }),
		in(string(api.Operational), api.Operational),
		in("working", api.Booting, api.Wiping, api.Writing, api.Configuring, api.Capturing, api.Starting),
		in("waiting", api.Discovered, api.Idle, api.Wiped, api.Captured),
		col("failed", failed),
		col("drift", func(g api.SummaryGroup) string { return nonzero(g.Drift) }),
		col("overdue", func(g api.SummaryGroup) string { return nonzero(g.Overdue) }).spare(),
		in("rescue", api.UnderRescue).spare(),
		in(string(api.Unconfirmed), api.Unconfirmed).spare(),
		in(api.Unseen, api.Unseen).spare(),
	}
}

// nonzero is a number, and nothing for none: most cells of a summary are.
func nonzero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
