// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) multicastCommand() *cobra.Command {
	return &cobra.Command{
		Use: "multicast", Short: "Show the images that are multicast, and to how many nodes",
		Long: `Shows the images that the boot server sends to many nodes at once: group, rate,
what was sent in copies of the image, and the nodes that receive it or have
ended. Without a sender there are none: it starts at the first request of a
node, and ends after 60 s without one.`,
		Example: "  sledctl multicast", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			told, err := client.Multicast(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(told, func() { a.printMulticast(told) })
		},
	}
}

func (a *app) printMulticast(told api.Multicast) {
	if !told.Running {
		_, _ = fmt.Fprintln(a.Out, "no sender runs: no node has requested an image by multicast within 60 s")
		return
	}
	printTable(a.Out, a.Screen, multicastColumns, told.Sessions)
	if refused := refusedText(told.Refused); refused != "" {
		_, _ = fmt.Fprintln(a.Out, "requests dropped: "+refused)
	}
}

var multicastColumns = []column[api.MulticastSession]{
	col("image", func(s api.MulticastSession) string { return clean(s.Image) }).wraps(12),
	col("group", func(s api.MulticastSession) string { return clean(s.Group) }),
	col("interface", func(s api.MulticastSession) string { return clean(s.Interface) }).spare(),
	col("receivers", func(s api.MulticastSession) string { return strconv.FormatInt(s.Receivers, 10) }),
	col("done", func(s api.MulticastSession) string { return strconv.FormatInt(s.Done, 10) }),
	col("rate", multicastRate),
	col("copies", func(s api.MulticastSession) string { return fmt.Sprintf("%.2f", s.Copies) }),
	col("repairs", func(s api.MulticastSession) string { return bytesText(s.Repairs) }).spare(),
	col("rejected", func(s api.MulticastSession) string { return strconv.FormatInt(s.Rejected, 10) }).spare(),
}

func multicastRate(s api.MulticastSession) string {
	if !s.Sending {
		return "idle"
	}
	return fmt.Sprintf("%d Mbit/s", s.Rate/1000)
}

// refusedText lists the reasons that counted.
func refusedText(refused map[string]int64) string {
	var words []string
	for why, count := range refused {
		if count > 0 {
			words = append(words, fmt.Sprintf("%d %s", count, clean(why)))
		}
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
