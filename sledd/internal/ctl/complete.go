// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// completeDeadline limits the time for one press of the tab key.
const completeDeadline = 2 * time.Second

// complete fetches names from sledd. Without an answer there are no completions.
func (a *app) complete(
	cmd *cobra.Command, names func(context.Context, *api.Client) []string,
) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeDeadline)
	defer cancel()
	client, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names(ctx, client), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeNodes(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, func(ctx context.Context, client *api.Client) (names []string) {
		for node, err := range client.Nodes(ctx, api.Filter{}) {
			if err != nil {
				return names
			}
			name := node.Name
			if name == "" {
				name = node.MAC
			}
			names = append(names, name+"\t"+string(node.Status.Phase))
		}
		return names
	})
}

// completeFirstNode completes a node, and nothing after it: the second argument is a new name.
func (a *app) completeFirstNode(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeNodes(cmd, args, typed)
}

func (a *app) completeImages(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, func(ctx context.Context, client *api.Client) (names []string) {
		images, err := client.Images(ctx)
		if err != nil {
			return nil
		}
		for _, image := range images {
			names = append(names, image.Name)
		}
		return names
	})
}
