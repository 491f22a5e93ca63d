// SPDX-License-Identifier: Apache-2.0

// Package ctl is sledctl: the operator API for people. It holds no rules of its own; it asks, shows and waits.
package ctl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// System is what a command line is run in. Tests give their own.
type System struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Screen   Screen // what Out is
}

// app is one run of sledctl.
type app struct {
	System
	config  api.Config
	output  string // table, json or yaml
	started bool   // arguments were good and a command runs
}

const long = `sledctl lists, declares, binds and watches the nodes of a fleet, by the API of sledd.

Server and token come from flags or the environment:
  SLED_SERVER      https://ADDRESS of the boot server
  SLED_TOKEN_FILE  file with an operator's token (or SLED_TOKEN, the token itself)
  SLED_CA          PEM file with the CA that the server's certificate chains to
  NO_COLOR         no colours

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 denied, 6 unreachable.`

const example = `  sledctl status
  sledctl node apply 52:54:00:77:00:01 --name n1 --disk only --label rack=a
  sledctl bind n1 n2 --image debian-12-v1 && sledctl watch --wait n1 n2
  sledctl timeline n1`

// Run runs one command line and returns its exit code. Errors are told on sys.Err, once.
func Run(ctx context.Context, args []string, sys System) int {
	a := &app{System: sys}
	root := a.root() //nolint:contextcheck // cobra hands it on
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if !a.started {
		err = &usageError{err: err, hint: command.CommandPath() + " --help"}
	}
	_, _ = fmt.Fprintf(sys.Err, "sledctl: %v\n", err)
	return exitCode(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "sledctl", Short: "Operate a fleet of nodes", Long: long, Example: example,
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if !slices.Contains(outputs, a.output) {
				return fmt.Errorf("--output %q: want one of %s", a.output, strings.Join(outputs, ", "))
			}
			a.started = true
			return nil
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	flags.StringVar(&a.config.Server, "server", "", "URL of sledd (SLED_SERVER)")
	flags.StringVar(&a.config.Token, "token", "", "operator's token; others on this machine can see it, better a file (SLED_TOKEN)")
	flags.StringVar(&a.config.TokenFile, "token-file", "", "file that holds the token (SLED_TOKEN_FILE)")
	flags.StringVar(&a.config.CAFile, "ca", "", "PEM file of the CA (SLED_CA)")
	flags.DurationVar(&a.config.Timeout, "request-timeout", 30*time.Second, "deadline of one request")
	flags.StringVarP(&a.output, "output", "o", "table", "table, json or yaml")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(
		a.nodeCommand(), a.imageCommand(), a.bindingCommand(), a.bindCommand("bind"), a.unbindCommand(),
		a.statusCommand(), a.watchCommand(), a.rolloutCommand(), a.timelineCommand(), a.eventsCommand(),
		a.logCommand(), a.consoleCommand(), a.rescueCommand(), a.kexecCommand(), a.operatorCommand(),
	)
	return root
}

// client connects as the flags and the environment say.
func (a *app) client() (*api.Client, error) {
	config := a.config.FromEnvironment(a.Getenv)
	config.UserAgent = "sledctl"
	client, err := api.New(config)
	if err != nil {
		return nil, &usageError{err: err}
	}
	return client, nil
}

// group is a noun that only has sub-commands.
func group(noun, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: noun, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	command.AddCommand(commands...)
	return command
}
