// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) timelineCommand() *cobra.Command {
	return &cobra.Command{
		Use: "timeline NODE...", Short: "Show the duration of each stage of a node's last run",
		Example: "  sledctl timeline n1\n  sledctl timeline n1 -o json",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			timelines := make([]api.Timeline, 0, len(args))
			for _, name := range args {
				timeline, err := client.Timeline(cmd.Context(), name)
				if err != nil {
					return err
				}
				timelines = append(timelines, timeline)
			}
			var value any = timelines
			if len(timelines) == 1 {
				value = timelines[0]
			}
			return a.show(value, func() {
				for i, timeline := range timelines {
					if i > 0 {
						_, _ = fmt.Fprintln(a.Out)
					}
					a.Timeline(timeline)
				}
			})
		},
	}
}
