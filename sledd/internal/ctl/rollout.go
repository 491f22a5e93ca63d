// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

var errNoRollout = errors.New("no rollout exists yet")

func (a *app) rollouts() *resource[api.Rollout] {
	return &resource[api.Rollout]{
		noun: "rollout", plural: "rollouts, newest first", placeholder: "NAME",
		columns: a.RolloutColumns(),
		list: func(ctx context.Context, c *api.Client, _ api.Filter) ([]api.Rollout, error) {
			return c.Rollouts(ctx)
		},
		get: func(ctx context.Context, c *api.Client, name string) (api.Rollout, error) {
			return c.Rollout(ctx, name)
		},
		detail:   a.Rollout,
		complete: a.completeRollouts,
		examples: examples{list: "sledctl rollout list", get: "sledctl rollout get reimage-7"},
	}
}

func (a *app) rolloutCommand() *cobra.Command {
	r := a.rollouts()
	return group("rollout", "Inspect, watch and abort rollouts: imaging in waves", r.listCommand(a),
		r.getCommand(a), a.rolloutWatchCommand(), a.rolloutAbortCommand(), a.rolloutReportCommand())
}

func (a *app) rolloutAbortCommand() *cobra.Command {
	return &cobra.Command{
		Use: "abort NAME", Short: "Abort a rollout",
		Long: `Aborts a rollout: none of its waiting nodes is started any more. The same
request then starts a new rollout instead of resuming this one. Nodes that are
being imaged are not interrupted.`,
		Example: "  sledctl rollout abort reimage-7",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeRollouts,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			one, err := client.AbortRollout(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			one.Runs = nil
			return a.rollouts().print(a, []api.Rollout{one})
		},
	}
}

// oneRollout reads the named rollout, or else the newest.
func oneRollout(ctx context.Context, client *api.Client, names []string) (api.Rollout, error) {
	if len(names) > 0 {
		return client.Rollout(ctx, names[0])
	}
	all, err := client.Rollouts(ctx)
	if err != nil {
		return api.Rollout{}, err
	}
	if len(all) == 0 {
		return api.Rollout{}, errNoRollout
	}
	return client.Rollout(ctx, all[0].Name)
}

func (a *app) completeRollouts(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(ctx context.Context, client *api.Client) (names []string) {
		all, err := client.Rollouts(ctx)
		if err != nil {
			return nil
		}
		for _, one := range all {
			names = append(names, one.Name+"\t"+string(one.State)+", "+one.Desired)
		}
		return names
	})
}
