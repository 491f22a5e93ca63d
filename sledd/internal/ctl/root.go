// SPDX-License-Identifier: Apache-2.0

// Package ctl implements sledctl, the command line of the operator API. It holds no rules of the fleet: it sends
// requests, prints the responses, and polls.
package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// System is the environment of a command line. Tests provide their own.
type System struct {
	show.Printer
	In     io.Reader
	Getenv func(string) string
	// Interactive: a person reads Err and can answer at In.
	Interactive bool
	Version     string // of sledctl
	// Signals are interrupts, for commands that do more than end then.
	Signals <-chan os.Signal
}

// app is one run of sledctl.
type app struct {
	System
	config  api.Config
	output  string // one of outputs
	context string // of --context; once a client was made, the one that is used
	started bool   // the arguments were valid and a command runs
}

const long = `Lists, declares, binds and watches the nodes of a fleet, through the operator
API of sledd.

Server and token come from flags, from the environment, or from a context (see
sledctl context):
  SLED_SERVER      https://ADDRESS of the boot server, or on it unix:SOCKET
  SLED_TOKEN_FILE  file that holds an operator's token
  SLED_TOKEN       the token itself
  SLED_CA          PEM file with the CA of the server's certificate
  SLED_CONTEXT     name of a context, without SLED_SERVER

Output has colours on a terminal, unless the environment has NO_COLOR.

Exit codes: 0 success, 1 failure, 2 usage, 3 not found, 4 conflict, 5 denied,
or records that do not verify, 6 server unreachable; sledctl run has its own.`

const example = `  sledctl status
  sledctl node apply 52:54:00:77:00:01 --name n1 --disk serial:LAB-0001
  sledctl bind n1 n2 --image debian-12-v1 && sledctl watch --wait n1 n2
  sledctl timeline n1`

// Run runs one command line and returns its exit code. It prints an error once, to sys.Err.
func Run(ctx context.Context, args []string, sys System) int {
	a := &app{System: sys}
	root := a.root() //nolint:contextcheck // cobra passes it on
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if !a.started {
		err = &usageError{err: err, hint: command.CommandPath() + " --help"}
	}
	if said := (*endedError)(nil); errors.As(err, &said) && said.reason == nil {
		return said.code
	}
	for line := range strings.Lines(fmt.Sprintf("sledctl: %v\n", err)) {
		_, _ = fmt.Fprintln(sys.Err, sys.Screen.Hang(strings.TrimRight(line, "\n"), 2))
	}
	return exitCode(err)
}

// Command returns the tree of commands, for programs that describe it.
func Command() *cobra.Command {
	root := (&app{}).root()
	root.DisableAutoGenTag = true
	return root
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "sledctl", Short: "Operate a fleet of nodes", Long: long, Example: example,
		SilenceUsage: true, SilenceErrors: true, Args: onlySubcommands, Version: a.Version,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.start(cmd) },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	setHelp(root, a.Screen)
	a.globalFlags(root)
	grouped(root, look, "Look at the fleet:",
		a.statusCommand(), a.watchCommand(), a.waitCommand(), a.timelineCommand(), a.eventsCommand(), a.logCommand(),
		a.consoleCommand(), a.knownHostsCommand(), a.multicastCommand())
	grouped(root, declare, "Declare nodes and what they get:",
		a.nodeCommand(), a.bindingCommand(), a.bindCommand(), a.unbindCommand("unbind"))
	grouped(root, images, "Images:", a.imageCommand())
	grouped(root, rollOut, "Roll out:", a.rolloutCommand())
	grouped(root, operate, "Operate:",
		a.runCommand(), a.jobCommand(), a.rescueCommand(), a.claimsCommand(), a.admitCommand(), a.refuseCommand(),
		a.revokeCommand(), a.ackCommand(),
		a.kexecCommand(), a.erasureCommand(), a.operatorCommand(), a.auditCommand(), a.storeCommand(),
		a.backupCommand(), a.releaseCommand(),
		a.simCommand(), a.checkHistoryCommand(), a.contextCommand(), a.versionCommand())
	root.SetHelpCommandGroupID(operate)
	root.SetCompletionCommandGroupID(operate)
	return root
}

// start checks the output format before a command runs.
func (a *app) start(command *cobra.Command) error {
	if !slices.Contains(outputs, a.output) {
		return fmt.Errorf("--output %q: expected one of %s", a.output, strings.Join(outputs, ", "))
	}
	if _, named := command.Annotations[onlyNames]; a.output == onlyNames && !named {
		return fmt.Errorf("--output name: %s does not print objects with names", command.CommandPath())
	}
	if a.output == wide {
		a.output, a.Screen.Wide = "table", true
	}
	a.started = true
	return nil
}

func (a *app) globalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.config.Server, "server", "", "URL of sledd (SLED_SERVER)")
	flags.StringVar(&a.context, "context", "", "context to use instead of the current one (SLED_CONTEXT)")
	flags.StringVar(&a.config.Token, "token", "",
		"operator's token; visible to other users of this machine, prefer --token-file (SLED_TOKEN)")
	flags.StringVar(&a.config.TokenFile, "token-file", "", "file that holds the operator's token (SLED_TOKEN_FILE)")
	flags.StringVar(&a.config.CAFile, "ca", "", "PEM file with the CA of the server's certificate (SLED_CA)")
	flags.DurationVar(&a.config.Timeout, "request-timeout", 30*time.Second, "timeout of one request")
	flags.StringVarP(&a.output, "output", "o", "table", "output format: table, wide, name, json or yaml")
	_ = root.RegisterFlagCompletionFunc("context", a.completeContexts)
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
}

// client makes a client from the flags and the environment.
func (a *app) client() (*api.Client, error) {
	config, err := a.target()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "sledctl/" + a.Version
	client, err := api.New(config)
	if err != nil {
		return nil, &usageError{err: err}
	}
	return client, nil
}

// group is a command that only has subcommands.
func group(noun, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: noun, Short: short, Args: onlySubcommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.AddCommand(commands...)
	return command
}
