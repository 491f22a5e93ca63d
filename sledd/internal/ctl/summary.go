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
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// summaryLines is the number of groups that a terminal gets.
const summaryLines = 50

// groupOf returns the group of the API for --by. Any other word is the key of a label.
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
		show.Table(a.Out, a.Screen, a.SummaryColumns(strings.TrimPrefix(by, api.ByLabel)), groups)
		if a.Screen.Terminal && more > 0 {
			line := fmt.Sprintf("(%d more groups with fewer failures are not shown; use -o json)", more)
			_, _ = fmt.Fprintln(a.Out, a.Screen.Paint(a.Screen.Hang(line, 1), text.Faint))
		}
	})
}
