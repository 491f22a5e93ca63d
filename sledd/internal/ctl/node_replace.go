// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) nodeReplaceCommand(r *resource[api.Node]) *cobra.Command {
	address, agreed := "", consent{}
	command := &cobra.Command{
		Use: "replace NODE --mac MAC", Short: "Give a node the MAC of its new network card or mainboard",
		Long: `Moves a node to another MAC. It keeps its name, binding, generation, history and
what is known of its disk. A machine that was admitted under either MAC has to
claim to be the node again, and its tokens are no longer accepted. On a terminal
it asks.`,
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
			before, err := client.Node(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			terms := api.IfRevision(before.Revision)
			if _, err := client.ReplaceNode(cmd.Context(), before.MAC, fresh, terms, api.DryRun()); err != nil {
				return err
			}
			p := replacementOf(before, fresh)
			if agreed.dryRun {
				a.printPreview(a.Out, p, 0)
				return nil
			}
			if err := agreed.obtain(cmd.Context(), a, p); err != nil {
				return err
			}
			node, err := client.ReplaceNode(cmd.Context(), before.MAC, fresh, terms)
			if err != nil {
				return err
			}
			return r.print(a, []api.Node{node})
		},
	}
	command.Flags().StringVar(&address, "mac", "", "MAC of the new boot interface (required)")
	_ = command.MarkFlagRequired("mac")
	agreed.define(command)
	return command
}

// replacementOf is what a node loses with its MAC.
func replacementOf(before api.Node, fresh string) preview {
	name := wording.NodeName(before)
	if before.MAC == fresh {
		return preview{sum: fmt.Sprintf("%s has MAC %s already", name, fresh)}
	}
	return preview{sum: fmt.Sprintf("%s gets MAC %s instead of %s, no disk is wiped:", name, fresh, before.MAC),
		lines:    []string{"who is admitted as " + name + " claims to be it again; its tokens end"},
		question: fmt.Sprintf("Replace the MAC of %s?", name)}
}
