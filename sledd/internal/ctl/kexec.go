// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) kexecCommand() *cobra.Command {
	stats := &cobra.Command{
		Use: "stats", Short: "Show how often kexec succeeds on each hardware model",
		Long: `Shows, for each hardware model, how often an installed system was started by
kexec, how often it confirmed, and how often it did not (missed). With
boot=auto, a node whose last kexec was missed is started through its firmware.`,
		Example: "  sledctl kexec stats", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printAll(cmd.Context(), a, (*api.Client).Kexecs, a.kexecColumns())
		},
	}
	quirks := &cobra.Command{
		Use: "quirks", Short: "List models that boot=auto starts through the firmware, and why",
		Long: `Lists the models that boot=auto starts through the firmware, from the list of
sledd and from that of the site.`,
		Example: "  sledctl kexec quirks", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printAll(cmd.Context(), a, (*api.Client).Quirks, quirkColumns)
		},
	}
	return group("kexec", "Inspect the reliability of kexec", stats, quirks)
}

// printAll fetches objects and prints them.
func printAll[T any](
	ctx context.Context, a *app, fetch func(*api.Client, context.Context) ([]T, error), columns []column[T],
) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	items, err := fetch(client, ctx)
	if err != nil {
		return err
	}
	return a.show(items, func() { printTable(a.Out, a.Screen, columns, items) })
}

func (a *app) kexecColumns() []column[api.KexecModel] {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []column[api.KexecModel]{
		col("vendor", func(m api.KexecModel) string { return m.Vendor.String() }).wraps(8),
		col("product", func(m api.KexecModel) string { return m.Product.String() }).wraps(8),
		col("nodes", func(m api.KexecModel) string { return strconv.Itoa(m.Nodes) }),
		col("attempts", func(m api.KexecModel) string { return number(m.Attempts) }),
		col("confirmed", func(m api.KexecModel) string { return number(m.Confirmed) }),
		col("missed", func(m api.KexecModel) string { return number(m.Missed) }),
		col("rate", func(m api.KexecModel) string { return successText(m.Rate) }),
		col("last", func(m api.KexecModel) string { return m.Last }).spare(),
		col("when", func(m api.KexecModel) string { return age(a.Now(), m.Time) }).spare(),
	}
}

func successText(rate *float64) string {
	if rate == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", *rate*100)
}

var quirkColumns = []column[api.Quirk]{
	col("match", func(q api.Quirk) string { return matchText(q.Match) }).wraps(16),
	col("reason", func(q api.Quirk) string { return clean(q.Reason) }).wraps(16),
	col("source", func(q api.Quirk) string { return clean(q.Source) }).wraps(16),
	col("origin", func(q api.Quirk) string { return q.Origin }),
}

func matchText(m api.QuirkMatch) string {
	var parts []string
	matches := [][2]string{{"vendor", m.Vendor}, {"product", m.Product}, {"version", m.Version}, {"bios", m.BIOS}}
	for _, part := range matches {
		if part[1] != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", part[0], part[1]))
		}
	}
	return strings.Join(parts, " ")
}
