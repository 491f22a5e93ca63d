// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	consoleBytes = 16 << 10
	// followBytes is the size of each poll: more than a serial port of 115,200 baud sends in that time.
	followBytes = 128 << 10
)

func (a *app) consoleCommand() *cobra.Command {
	follow, bytes := false, 0
	command := &cobra.Command{
		Use: "console NODE", Short: "Print the recorded serial console of a node",
		Long: `Prints the end of a node's serial console, as recorded by the boot server. Each
line starts with the time of its recording. Control sequences for terminals are
removed, and tokens replaced.`,
		Example: "  sledctl console n1\n  sledctl console n1 -f",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeFirstNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			text, err := client.Console(cmd.Context(), args[0], bytes)
			if err != nil {
				return err
			}
			if !follow {
				return a.show(text, func() { _, _ = fmt.Fprint(a.Out, text) })
			}
			return a.followConsole(cmd.Context(), client, args[0], text.String())
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "print new lines as they are recorded, until interrupted")
	flags.IntVar(&bytes, "bytes", consoleBytes, "size of the part to print, from the end")
	return command
}

// followConsole prints whole lines as they are recorded, until it is interrupted.
func (a *app) followConsole(ctx context.Context, client *api.Client, node, seen string) error {
	end := strings.LastIndexByte(seen, '\n') + 1
	_, _ = fmt.Fprint(a.Out, seen[:end])
	seen = seen[:end]
	for {
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return nil
		}
		recorded, err := client.Console(ctx, node, followBytes)
		if err != nil {
			return err
		}
		text := recorded.String()
		text = text[:strings.LastIndexByte(text, '\n')+1]
		_, _ = fmt.Fprint(a.Out, after(text, seen))
		seen = text
	}
}

// after returns the part of text that follows seen. Lines start with a time, so no two ends are alike.
func after(text, seen string) string {
	mark := seen[max(0, len(seen)-256):]
	if i := strings.LastIndex(text, mark); i >= 0 && mark != "" {
		return text[i+len(mark):]
	}
	return text
}
