// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// release is one run of `sledctl release`.
type release struct {
	*app
	labels  []string
	all     bool
	consent consent
}

func (a *app) releaseCommand() *cobra.Command {
	r := &release{app: a}
	command := &cobra.Command{
		Use: "release [NODE...]", Short: "Release nodes that a restored store holds back",
		Long: `After a backup was restored, every node boots its disk and gets no plan until it
is released: the store does not know what was written since the backup. This
command shows which disk each node would lose by its binding, asks, and releases
the nodes. --all also ends the hold of the store, for nodes that are declared
later.

It also releases a node whose step failed because its disk is ahead of the plan:
until the disk is written again, no plan of the node is refused for that.`,
		Example: `  sledctl release --all --dry-run
  sledctl release n1 n2
  sledctl release --label rack=a --yes`,
		ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(args); err != nil {
				return err
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), client, args)
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&r.labels, "label", "l", nil,
		"release all nodes with this label (repeatable; all must match)")
	flags.BoolVar(&r.all, "all", false, "release all nodes, and end the hold of the store")
	r.consent.define(command)
	r.consent.defineLimits(command)
	return command
}

func (r *release) check(names []string) error {
	sources := 0
	for _, present := range []bool{len(names) > 0, len(r.labels) > 0, r.all} {
		if present {
			sources++
		}
	}
	if sources != 1 {
		return usagef("expected one of NODE..., --label KEY=VALUE and --all")
	}
	r.consent.unnamed = len(names) == 0
	return r.consent.check()
}

func (r *release) run(ctx context.Context, client *api.Client, names []string) error {
	if len(r.labels) > 0 {
		nodes, err := api.Collect(client.Nodes(ctx, api.Filter{Labels: r.labels}))
		if err != nil {
			return err
		}
		for _, node := range nodes {
			names = append(names, node.MAC)
		}
		if len(names) == 0 {
			return fmt.Errorf("no node has the labels %s", strings.Join(r.labels, " "))
		}
	}
	spec := api.ReleaseSpec{Nodes: names, All: r.all}
	shown, err := client.Release(ctx, spec, api.DryRun())
	if err != nil {
		return err
	}
	if r.consent.dryRun {
		return r.show(shown, func() { r.printPreview(r.Out, previewOf(shown), 0) })
	}
	if err := r.consent.obtain(ctx, r.app, previewOf(shown)); err != nil {
		return err
	}
	released, err := client.Release(ctx, spec)
	if err != nil {
		return err
	}
	return r.show(released, func() { _, _ = fmt.Fprintf(r.Out, "%d released\n", len(released)) })
}
