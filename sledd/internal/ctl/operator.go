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
		columns: a.OperatorColumns(),
		list: func(ctx context.Context, c *api.Client, _ api.Filter) ([]api.Operator, error) {
			return c.Operators(ctx)
		},
		remove: func(ctx context.Context, c *api.Client, name string, _ ...api.Option) error {
			return c.DeleteOperator(ctx, name)
		},
		complete: cobra.NoFileCompletions,
		examples: examples{list: "sledctl operator list", remove: "sledctl operator delete ci"},
	}
}

func (a *app) operatorCommand() *cobra.Command {
	r := a.operators()
	remove := r.deleteCommand(a, "delete", "Delete operators; their tokens are refused at once", "")
	return group("operator", "Manage access to the API (role admin)", r.listCommand(a), a.operatorCreateCommand(), remove)
}

func (a *app) operatorCreateCommand() *cobra.Command {
	var operator api.Operator
	days := 0
	command := &cobra.Command{
		Use: "create NAME", Short: "Create an operator and print its token",
		Long: `Creates an operator and prints its token on standard output, once: only a hash
of the token is stored. An existing operator of that name must be deleted
first. The token expires: by default in 90 days.`,
		Example: "  (umask 077; sledctl operator create ci --role operate --days 365 > ci.token)",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if err := vacant(cmd.Context(), client, args[0]); err != nil {
				return err
			}
			operator.Name, operator.Expires = args[0], a.Now().AddDate(0, 0, days)
			made, err := client.PutOperator(cmd.Context(), operator, api.IfAbsent())
			if err != nil {
				return err
			}
			return a.show(made, func() { _, _ = fmt.Fprintln(a.Out, made.Token) })
		},
	}
	flags := command.Flags()
	flags.StringVar((*string)(&operator.Role), "role", string(api.Read),
		"read, operate or admin; each role includes those before it")
	flags.StringVar(&operator.Owner, "owner", "", "person or team that answers for the token")
	flags.IntVar(&days, "days", 90, "days until the token expires")
	roles := []string{"read", "operate", "admin"}
	_ = command.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(roles, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// vacant refuses the name of an existing operator: a new token would replace the present one.
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
