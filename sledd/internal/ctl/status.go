// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const statusLong = `Prints one line for each node, the number of nodes by phase, the alarms that
nobody has acknowledged, and the alarms of the store. "1 -> 2" means: generation
1 was observed, generation 2 is requested. The same holds for images. Of more
than 40 nodes, a terminal gets the most urgent, or the first of another order
(--sort), on one screen.

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
			return a.show(nodes, func() {
				a.Status(nodes)
				if len(args) == 0 {
					a.storeLines(cmd.Context(), client)
				}
			})
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
		return a.show(nodes, func() {
			a.Status(nodes)
			a.storeLines(ctx, client)
		})
	}
	filter.Sort, filter.Limit = cmp.Or(filter.Sort, api.SortUrgency), show.Screenful
	nodes, err := api.First(client.Nodes(ctx, filter), show.Screenful)
	if err != nil {
		return err
	}
	return a.show(nodes, func() {
		left := show.First(a.Out, a.Screen, a.StatusColumns(), nodes, show.Screenful)
		a.NotShown(sum.Total.Nodes-len(nodes)+left, "--failed, --overdue, --drift, --by LABEL or -o wide")
		_, _ = fmt.Fprintf(a.Out, "\n%s\n", a.Screen.Hang(show.CountText(sum.Total, a.Screen), 2))
		a.storeLines(ctx, client)
	})
}

// storeLines prints the alarms of the store, and how old the newest backup is, if one was ever made. The state of the
// nodes does not depend on them.
func (a *app) storeLines(ctx context.Context, client *api.Client) {
	usage, err := client.Store(ctx)
	if err != nil {
		return
	}
	for _, alarm := range usage.Alarms {
		_, _ = fmt.Fprintf(a.Out, "store: %s: nothing can be written; see sledctl store\n",
			a.Screen.Paint("alarm "+alarm, text.FgRed))
	}
	if !usage.Backup.IsZero() {
		_, _ = fmt.Fprintf(a.Out, "newest backup %s ago\n", wording.Age(a.Now(), usage.Backup))
	}
}

// isShort reports whether a table gets one screen only.
func (a *app) isShort() bool { return a.output == "table" && a.Screen.Terminal && !a.Screen.Wide }

// isLong reports whether a table of so many rows gets one screen only.
func (a *app) isLong(rows int) bool { return rows > show.Screenful && a.isShort() }
