// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// healTimeout is the least timeout of a request to heal the store, which copies all that is in use.
const healTimeout = 5 * time.Minute

func (a *app) storeCommand() *cobra.Command {
	command := group("store", "Show the UUID of the fleet, and how full its store is", a.storeHealCommand())
	command.Long = `Shows the UUID of the fleet, which sledd makes at its first start on an empty
store and keeps, the size of the store, its quota and its alarms, and whose
writes are refused at present. Above 50% of the quota, machines that are not
declared can write nothing, and no claim to be a node is taken without evidence;
above 80%, nodes can store no logs. At 100% etcd raises the alarm NOSPACE and
refuses every write. sledd then heals the store once by itself.`
	command.Example = "  sledctl store"
	command.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.storeUsage(cmd.Context(), (*api.Client).Store)
	}
	return command
}

func (a *app) storeHealCommand() *cobra.Command {
	return &cobra.Command{
		Use: "heal", Short: "Make room in a full store",
		Long: `Drops the history of the store, defragments its file and ends the alarm NOSPACE.
No current value is lost. Other requests wait meanwhile, for seconds as a rule.
If the store stays full, delete what is not needed: images, rollouts, and nodes
that are not declared.`,
		Example: "  sledctl store heal", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.config.Timeout = max(a.config.Timeout, healTimeout)
			return a.storeUsage(cmd.Context(), (*api.Client).HealStore)
		},
	}
}

func (a *app) storeUsage(ctx context.Context, fetch func(*api.Client, context.Context) (api.Store, error)) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	usage, err := fetch(client, ctx)
	if err != nil {
		return err
	}
	return a.show(usage, func() { a.Section("store", show.StoreRows(usage)) })
}
