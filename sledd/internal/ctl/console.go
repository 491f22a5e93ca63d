// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"regexp"
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

// sequences are those that move a cursor, colour or clear: CSI, OSC, and the others that start with an escape.
var sequences = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[ -/]*[0-~]")

func (a *app) consoleCommand() *cobra.Command {
	follow, raw, bytes := false, false, 0
	command := &cobra.Command{
		Use: "console NODE", Short: "Print the recorded serial console of a node",
		Long: `Prints the end of a node's serial console, as recorded by the boot server. Each
line starts with the time of its recording. Control sequences for terminals are
removed, unless --raw is set.`,
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
			plain := plainConsole
			if raw {
				plain = func(text string) string { return text }
			}
			if !follow {
				return a.show(text, func() { _, _ = fmt.Fprint(a.Out, plain(text)) })
			}
			return a.followConsole(cmd.Context(), client, args[0], text, plain)
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "print new lines as they are recorded, until interrupted")
	flags.BoolVar(&raw, "raw", false, "keep all control sequences")
	flags.IntVar(&bytes, "bytes", consoleBytes, "size of the part to print, from the end")
	return command
}

// followConsole prints whole lines as they are recorded, until it is interrupted.
func (a *app) followConsole(
	ctx context.Context, client *api.Client, node, seen string, plain func(string) string,
) error {
	end := strings.LastIndexByte(seen, '\n') + 1
	_, _ = fmt.Fprint(a.Out, plain(seen[:end]))
	seen = seen[:end]
	for {
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return nil
		}
		text, err := client.Console(ctx, node, followBytes)
		if err != nil {
			return err
		}
		text = text[:strings.LastIndexByte(text, '\n')+1]
		_, _ = fmt.Fprint(a.Out, plain(after(text, seen)))
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

// plainConsole removes control sequences.
func plainConsole(text string) string {
	text = sequences.ReplaceAllString(text, "")
	return clean(strings.ReplaceAll(text, "\r", ""), "\n\t")
}
