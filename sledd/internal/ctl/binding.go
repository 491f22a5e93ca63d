// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) bindings() *resource[api.Binding] {
	return &resource[api.Binding]{
		noun: "binding", plural: "bindings", placeholder: "NODE",
		columns: a.BindingColumns(),
		list: func(ctx context.Context, c *api.Client, f api.Filter) ([]api.Binding, error) {
			return api.Collect(c.Bindings(ctx, f))
		},
		get: func(ctx context.Context, c *api.Client, name string) (api.Binding, error) {
			return c.Binding(ctx, name)
		},
		remove: func(ctx context.Context, c *api.Client, name string, options ...api.Option) error {
			return c.DeleteBinding(ctx, name, options...)
		},
		complement: nameNodes,
		loss:       bindingLoss,
		filters:    addFilters, terms: ownership, complete: a.completeNodes,
		examples: examples{"sledctl binding list --image debian-12-v1", "sledctl binding get n1 -o yaml",
			"sledctl unbind n1 n2"},
	}
}

// nameNodes puts the present name of each node in place of what the binding was stored under, which may be a MAC or
// an earlier name. Without an answer the bindings stay as they are stored.
func nameNodes(ctx context.Context, client *api.Client, bindings []api.Binding) {
	names := map[string]string{}
	if len(bindings) == 1 {
		node, err := client.Node(ctx, bindings[0].MAC)
		if err != nil {
			return
		}
		names[node.MAC] = node.Name
	} else {
		for node, err := range client.Nodes(ctx, api.Filter{}) {
			if err != nil {
				return
			}
			names[node.MAC] = node.Name
		}
	}
	for i, binding := range bindings {
		if name := names[binding.MAC]; name != "" {
			bindings[i].Node = name
		}
	}
}

func (a *app) bindingCommand() *cobra.Command {
	r := a.bindings()
	return group("binding", "Inspect bindings of nodes to images; see bind and unbind", r.listCommand(a), r.getCommand(a),
		a.unbindCommand("delete"))
}

// unbindCommand is `unbind`, and `binding delete` for those who look where the other resources have it.
func (a *app) unbindCommand(use string) *cobra.Command {
	return a.bindings().deleteCommand(a, use, "Delete bindings; the disks keep their content",
		`Deletes the bindings of nodes. Nothing is written to their disks. A binding
with an owner is deleted with --owner and that owner, or with --take-over. The
command asks before it deletes, on a terminal and without --yes.`)
}

// bindingLoss describes what is no longer requested without a binding.
func bindingLoss(ctx context.Context, client *api.Client, name string, options ...api.Option) (string, error) {
	if err := client.DeleteBinding(ctx, name, append(options, api.DryRun())...); err != nil {
		return "", err
	}
	binding, err := client.Binding(ctx, name)
	if err != nil {
		return "", err
	}
	done := "done"
	if !binding.Satisfied {
		done = "not done yet"
	}
	return fmt.Sprintf("%s: %s is no longer requested (generation %d, %s); its disk stays as it is", name,
		wording.Request(binding), binding.Generation, done), nil
}

// ownership adds the flags for bindings that have an owner.
func ownership(command *cobra.Command) func() []api.Option {
	owner, takeOver := "", false
	command.Flags().StringVar(&owner, "owner", "", "delete bindings of this owner")
	command.Flags().BoolVar(&takeOver, "take-over", false, "delete bindings of any owner, such as Terraform")
	return func() []api.Option {
		options := []api.Option{api.As(owner)}
		if takeOver {
			options = append(options, api.TakeOver())
		}
		return options
	}
}
