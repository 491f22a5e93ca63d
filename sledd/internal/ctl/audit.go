// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

func (a *app) auditCommand() *cobra.Command {
	filter := api.AuditFilter{}
	command := &cobra.Command{
		Use: "audit", Short: "List the changes that operators requested (role admin)",
		Long: `Lists the newest changes that operators requested, oldest first: time, operator,
address and program of the client, request, and the HTTP status of the response.
Requests that were refused are counted: one record per operator and hour, with
the newest of them. Records are kept for 90 days, at most 20,000 per operator.`,
		Example: "  sledctl audit\n  sledctl audit --operator ci --limit 1000", Args: cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fetch := func(c *api.Client, ctx context.Context) ([]api.AuditRecord, error) { return c.Audit(ctx, filter) }
			return printAll(cmd.Context(), a, fetch, show.AuditColumns)
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.Operator, "operator", "", "only changes of this operator")
	flags.StringVar(&filter.Node, "node", "", "only changes of this node, named as in the request")
	flags.IntVar(&filter.Limit, "limit", 100, "number of changes, at most 20000")
	return command
}
