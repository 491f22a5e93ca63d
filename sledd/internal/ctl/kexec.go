// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

func (a *app) kexecCommand() *cobra.Command {
	stats := &cobra.Command{
		Use: "stats", Short: "Show how often kexec succeeds on each hardware model",
		Long: `Shows, for each hardware model, how often an installed system was started by
kexec, how often it confirmed, and how often it did not (missed). With
boot=auto, a node whose last kexec was missed is started through its firmware.
Jumps into payloads (docs/payloads.md) are counted apart.`,
		Example: "  sledctl kexec stats", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printAll(cmd.Context(), a, (*api.Client).Kexecs, a.KexecColumns())
		},
	}
	quirks := &cobra.Command{
		Use: "quirks", Short: "List models that boot=auto starts through the firmware, and why",
		Long: `Lists the models that boot=auto starts through the firmware, from the list of
sledd and from that of the site.`,
		Example: "  sledctl kexec quirks", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printAll(cmd.Context(), a, (*api.Client).Quirks, show.QuirkColumns)
		},
	}
	return group("kexec", "Inspect the reliability of kexec", stats, quirks)
}

// printAll fetches objects and prints them.
func printAll[T any](
	ctx context.Context, a *app, fetch func(*api.Client, context.Context) ([]T, error), columns []show.Column[T],
) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	items, err := fetch(client, ctx)
	if err != nil {
		return err
	}
	return a.show(items, func() { show.Table(a.Out, a.Screen, columns, items) })
}
