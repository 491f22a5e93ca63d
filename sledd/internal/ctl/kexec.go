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
	stats := &cobra.Command{Use: "stats", Short: "How well each model starts an installed system by kexec", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listed(cmd.Context(), a, (*api.Client).Kexecs, a.kexecColumns())
		}}
	quirks := &cobra.Command{Use: "quirks", Short: "Machines that boot=auto starts through their firmware, and why", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listed(cmd.Context(), a, (*api.Client).Quirks, quirkColumns)
		}}
	return group("kexec", "Whether kexec can be trusted", stats, quirks)
}

// listed asks for things and prints them.
func listed[T any](ctx context.Context, a *app, ask func(*api.Client, context.Context) ([]T, error), columns []column[T]) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	items, err := ask(client, ctx)
	if err != nil {
		return err
	}
	return a.show(items, func() { printTable(a.Out, a.Screen, columns, items) })
}

func (a *app) kexecColumns() []column[api.KexecModel] {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []column[api.KexecModel]{
		{"vendor", func(m api.KexecModel) string { return clean(m.Vendor, "") }},
		{"product", func(m api.KexecModel) string { return clean(m.Product, "") }},
		{"nodes", func(m api.KexecModel) string { return strconv.Itoa(m.Nodes) }},
		{"attempts", func(m api.KexecModel) string { return number(m.Attempts) }},
		{"confirmed", func(m api.KexecModel) string { return number(m.Confirmed) }},
		{"missed", func(m api.KexecModel) string { return number(m.Missed) }},
		{"rate", func(m api.KexecModel) string { return successText(m.Rate) }},
		{"last", func(m api.KexecModel) string { return m.Last }},
		{"when", func(m api.KexecModel) string { return age(a.Now(), m.Time) }},
	}
}

func successText(rate *float64) string {
	if rate == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", *rate*100)
}

var quirkColumns = []column[api.Quirk]{
	{"match", func(q api.Quirk) string { return matchText(q.Match) }},
	{"reason", func(q api.Quirk) string { return clean(q.Reason, "") }},
	{"source", func(q api.Quirk) string { return clean(q.Source, "") }},
	{"origin", func(q api.Quirk) string { return q.Origin }},
}

func matchText(m api.QuirkMatch) string {
	var parts []string
	for _, part := range [][2]string{{"vendor", m.Vendor}, {"product", m.Product}, {"version", m.Version}, {"bios", m.BIOS}} {
		if part[1] != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", part[0], part[1]))
		}
	}
	return strings.Join(parts, " ")
}
