// SPDX-License-Identifier: Apache-2.0

package ctl

import "github.com/spf13/cobra"

func (a *app) multicastCommand() *cobra.Command {
	return &cobra.Command{
		Use: "multicast", Short: "Show the images that are multicast, and to how many nodes",
		Long: `Shows the images that the boot server sends to many nodes at once: group, rate,
what was sent in copies of the image, and the nodes that receive it or have
ended. Without a sender there are none: it starts at the first request of a
node, and ends after 60 s without one.`,
		Example: "  sledctl multicast", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			told, err := client.Multicast(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(told, func() { a.Multicast(told) })
		},
	}
}
