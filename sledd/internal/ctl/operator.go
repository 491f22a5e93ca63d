// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) operators() *resource[api.Operator] {
	return &resource[api.Operator]{
		noun: "operator", plural: "operators", placeholder: "NAME",
		columns: []column[api.Operator]{
			col("name", func(o api.Operator) string { return o.Name }).wraps(12),
			col("role", func(o api.Operator) string { return string(o.Role) }),
		},
		list: func(ctx context.Context, c *api.Client, _ api.Filter) ([]api.Operator, error) {
			return c.Operators(ctx)
		},
		remove: func(ctx context.Context, c *api.Client, name string, _ ...api.Option) error {
			return c.DeleteOperator(ctx, name)
		},
		complete: cobra.NoFileCompletions,
	}
}

func (a *app) operatorCommand() *cobra.Command {
	r := a.operators()
	return group("operator", "Who may use the API (role admin)", r.listCommand(a), a.operatorCreateCommand(),
		r.deleteCommand(a, "delete", "Take access away at once", "deleted"))
}

func (a *app) operatorCreateCommand() *cobra.Command {
	role := ""
	command := &cobra.Command{
		Use: "create NAME", Short: "Make an operator; prints the token, once",
		Long: `Makes an operator and prints the token on standard output. It is stored hashed and cannot be shown again.
An operator of that name that is there already is left alone: delete it first.`,
		Example: "  (umask 077; sledctl operator create ci --role operate > ci.token)",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if err := vacant(cmd.Context(), client, args[0]); err != nil {
				return err
			}
			made, err := client.PutOperator(cmd.Context(), api.Operator{Name: args[0], Role: api.Role(role)}, api.IfAbsent())
			if err != nil {
				return err
			}
			return a.show(made, func() { _, _ = fmt.Fprintln(a.Out, made.Token) })
		},
	}
	command.Flags().StringVar(&role, "role", string(api.Read), "read, operate or admin; each includes the ones before it")
	_ = command.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"read", "operate", "admin"}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// vacant refuses a name that somebody has: a new token would lock them out.
func vacant(ctx context.Context, client *api.Client, name string) error {
	operators, err := client.Operators(ctx)
	if err != nil {
		return err
	}
	for _, operator := range operators {
		if operator.Name == name {
			return &api.Error{Status: http.StatusConflict, Title: http.StatusText(http.StatusConflict),
				Detail: fmt.Sprintf("operator %s exists with role %s: delete it first", name, operator.Role)}
		}
	}
	return nil
}
