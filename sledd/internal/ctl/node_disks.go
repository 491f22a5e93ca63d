// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) nodeDisksCommand() *cobra.Command {
	var match string
	var keep []string
	command := &cobra.Command{
		Use: "disks NODE", Short: "Show which disk a selector means, and why not the others",
		Long: `Lists the disks that a node has reported last, and what a plan for that boot
would do with each. Nothing is changed. Without --match, the selector is that of
the binding, else of the node; all stands for a wipe of all disks. Disks that an
earlier boot has reported, and the newest has not, are listed as missing: a
selector that could mean one of them is refused, unless it has serial:, wwn: or
path:. The exit code is 4 if a plan would be refused.`,
		Example: "  sledctl node disks n1\n  sledctl node disks n1 --match smallest,transport:nvme\n" +
			"  sledctl node disks n1 --match all --keep serial:S64GNE0R900001",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			disks, err := client.NodeDisks(cmd.Context(), args[0], match, keep)
			if err != nil {
				return err
			}
			if err := a.show(disks, func() { a.NodeDisks(disks) }); err != nil || disks.Refused == "" {
				return err
			}
			return heldBackError{errors.New(wording.Clean(disks.Refused))}
		},
	}
	command.Flags().StringVar(&match, "match", "", "disk selector, or all")
	command.Flags().StringArrayVar(&keep, "keep", nil, "selector of a disk that is never written; repeatable")
	return command
}

func (a *app) nodeForgetDiskCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forget-disk NODE SELECTOR", Short: "Forget a disk that was taken out or exchanged",
		Long: `Forgets a disk that an earlier boot has reported, and the newest has not. While
it is known, selectors that could mean it are refused, because it may be late.
Name it by serial:, wwn: or path:, as sledctl node disks lists it. If it comes
back, it is known again.`,
		Example: "  sledctl node forget-disk n1 serial:S64GNE0R900001",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: a.completeFirstNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if err := client.ForgetDisk(cmd.Context(), args[0], args[1]); err != nil {
				return err
			}
			a.Say(a.Out, "%s: disk %s is forgotten", wording.Clean(args[0]), wording.Clean(args[1]))
			return nil
		},
	}
}
