// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
)

func (a *app) nodeReplaceCommand(r *resource[api.Node]) *cobra.Command {
	address := ""
	command := &cobra.Command{
		Use: "replace NODE --mac MAC", Short: "Give a node the MAC of its new network card or mainboard",
		Long: `Moves a node to another MAC. It keeps its name, binding, generation, history and
what is known of its disk. A machine that was admitted under either MAC has to
claim to be the node again, and its tokens are no longer accepted.`,
		Example: "  sledctl node replace n1 --mac 52:54:00:77:00:09",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			fresh, err := mac.Parse(address)
			if err != nil {
				return &usageError{err: err}
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			node, err := client.ReplaceNode(cmd.Context(), args[0], fresh)
			if err != nil {
				return err
			}
			return r.print(a, []api.Node{node})
		},
	}
	command.Flags().StringVar(&address, "mac", "", "MAC of the new boot interface (required)")
	_ = command.MarkFlagRequired("mac")
	return command
}
