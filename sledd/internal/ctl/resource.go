// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// resource describes a kind of object T for the commands list, get and delete.
type resource[T any] struct {
	noun, plural, placeholder string // "node", "nodes", "NODE"
	columns                   []show.Column[T]
	list                      func(context.Context, *api.Client, api.Filter) ([]T, error)
	get                       func(context.Context, *api.Client, string) (T, error)
	remove                    func(context.Context, *api.Client, string, ...api.Option) error
	detail                    func(T)                                  // nil: get prints the table
	complement                func(context.Context, *api.Client, []T)  // before a table; nil: the objects hold all
	filters                   func(*cobra.Command, *api.Filter)        // nil: list has no filters
	terms                     func(*cobra.Command) func() []api.Option // flags of delete; nil: none
	loss                      lossFunc                                 // nil: delete does not ask
	complete                  cobra.CompletionFunc
	examples                  examples
}

// examples are the command lines in the help of list, get and delete.
type examples struct{ list, get, remove string }

func (r *resource[T]) print(a *app, items []T) error {
	return a.show(items, func() { show.Table(a.Out, a.Screen, r.columns, items) })
}

// printWith is print for objects whose table shows what other requests return.
func (r *resource[T]) printWith(ctx context.Context, a *app, client *api.Client, items []T) error {
	if r.complement != nil && (a.output == "table" || a.output == onlyNames) {
		r.complement(ctx, client, items)
	}
	return r.print(a, items)
}

func (r *resource[T]) listCommand(a *app) *cobra.Command {
	var filter api.Filter
	command := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List " + r.plural, Example: "  " + r.examples.list,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions, Annotations: printsNames,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			items, err := r.list(cmd.Context(), client, filter)
			if err != nil {
				return err
			}
			if r.filters == nil || !a.isLong(len(items)) {
				return r.printWith(cmd.Context(), a, client, items)
			}
			return a.show(items, func() {
				if r.complement != nil {
					r.complement(cmd.Context(), client, items[:show.Screenful])
				}
				more := show.First(a.Out, a.Screen, r.columns, items[:show.Screenful], show.Screenful)
				a.NotShown(len(items)-show.Screenful+more, "a filter such as -l or --phase, or -o wide")
			})
		},
	}
	if r.filters != nil {
		command.Long = fmt.Sprintf("Lists %s. Of several filters, all must match.", r.plural)
		r.filters(command, &filter)
	}
	return command
}

func (r *resource[T]) getCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "get " + r.placeholder, Aliases: []string{"show"}, Short: "Show one " + r.noun,
		Example: "  " + r.examples.get, Args: cobra.ExactArgs(1), ValidArgsFunction: r.complete,
		Annotations: printsNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			item, err := r.get(cmd.Context(), client, args[0])
			if err != nil {
				return err
			}
			if r.detail == nil && a.output == "table" {
				return r.printWith(cmd.Context(), a, client, []T{item})
			}
			return a.show(item, func() { r.detail(item) })
		},
	}
}

// addFilters adds the flags that select nodes.
func addFilters(command *cobra.Command, filter *api.Filter) {
	flags := command.Flags()
	flags.StringArrayVarP(&filter.Labels, "label", "l", nil,
		"only nodes with this label (repeatable; all must match)")
	flags.Var((*phaseList)(&filter.Phases), "phase", "only nodes in this phase, or one of several joined by commas")
	flags.BoolFunc("failed", "only nodes that failed; as --phase failed", func(text string) error {
		failed, err := strconv.ParseBool(text)
		if failed {
			filter.Phases = append(filter.Phases, api.Failed)
		}
		return err //nolint:wrapcheck // cobra names the flag
	})
	flags.StringVar(&filter.Text, "search", "", "only nodes with this text in name, MAC or address")
	flags.StringVar(&filter.Image, "image", "", "only nodes that are bound to this image")
	flags.BoolVar(&filter.Drift, "drift", false, "only nodes that do not have what their binding requests")
	flags.BoolVar(&filter.Overdue, "overdue", false, "only nodes that stand still longer than their phase allows")
	flags.StringVar(&filter.Owner, "owner", "", "only nodes whose binding has this owner")
	_ = command.RegisterFlagCompletionFunc("phase",
		cobra.FixedCompletions(phaseNames(), cobra.ShellCompDirectiveNoFileComp))
}

// addSort adds the flag that sorts nodes.
func addSort(command *cobra.Command, filter *api.Filter) {
	command.Flags().StringVar(&filter.Sort, "sort", "",
		"order: name, phase, image, since, urgency or label:KEY; with - before it, the other way round")
	keys := api.SortKeys()
	for _, key := range api.SortKeys() {
		keys = append(keys, "-"+key)
	}
	_ = command.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(keys, cobra.ShellCompDirectiveNoFileComp))
}

// phaseList is a flag with phases joined by commas, which may be repeated.
type phaseList []api.Phase

// String implements pflag.Value.
func (l *phaseList) String() string {
	return strings.Join(each(*l, func(p api.Phase) string { return string(p) }), ",")
}

// Set implements pflag.Value.
func (l *phaseList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if !slices.Contains(api.Phases(), api.Phase(word)) {
			return fmt.Errorf("expected one of %s", strings.Join(phaseNames(), ", "))
		}
		*l = append(*l, api.Phase(word))
	}
	return nil
}

// Type implements pflag.Value.
func (*phaseList) Type() string { return "phases" }
