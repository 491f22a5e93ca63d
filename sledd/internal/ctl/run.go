// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Exit codes of run and of job logs -f, beside that of the payload: those of other tools that run containers.
const (
	exitTimeout     = 124
	exitSled        = 125
	exitInterrupted = 130
	exitSignal      = 128 // and the number of the signal
)

// endedError ends sledctl with an exit code. Without a reason, nothing is printed.
type endedError struct {
	code   int
	reason error
}

func (e *endedError) Error() string { return fmt.Sprint(e.reason) }

func (e *endedError) Unwrap() error { return e.reason }

// sledFailed is the error of a payload that was not run, or whose end is not known.
func sledFailed(err error) error {
	if _, known := err.(*endedError); known || err == nil { //nolint:errorlint // is never wrapped
		return err
	}
	return &endedError{exitSled, err}
}

// runFlags are the parts of a job that flags set.
type runFlags struct {
	spec            api.JobSpec
	labels, secrets []string
	arguments       []string // of the kernel
	entrypoint      string
	timeout, grace  time.Duration
	detach          bool
	consent         consent
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	command := &cobra.Command{
		Use:   "run {NODE | --label KEY=VALUE} IMAGE [-- COMMAND...]",
		Short: "Run a container image or a kernel on a machine, once",
		Long: `Runs an image of kind root on a node as a container, from RAM. Its disks are
not touched, and its binding continues afterwards. A node that waits in the
Sled system starts at once, any other at its next boot; this command does not
switch power, playbooks/run.yml does. With --label, it takes a node that waits.

Standard output and standard error are those of the payload, byte for byte, as
it writes them; a terminal gets them unchanged. Lines of sledctl are on
standard error. Ctrl-C sends SIGTERM to the payload, a second one SIGKILL.

An image of kind kernel that is a payload, such as a memory test, is started
instead of the Sled system. It ends by GET {confirm}?exit=N, by the text that
its console shows, by the machine coming back, or by --timeout; what it prints
is on the console alone. The node then needs a power cycle, unless it came back.

With --kernel, the node starts the Sled system on that kernel first. After such
a job, and one with --tune or --privileged, it restarts before it does anything
else.

The exit code is that of the payload, 128+N if signal N ended it, 124 after
--timeout, 130 after Ctrl-C, and 125 if Sled failed: its reason is printed.
As usual, the payload's is 127 if its program is not found, and 126 if that
cannot be started.`,
		Example: `  sledctl run n1 hpl-v3 -- ./xhpl 12800
  sledctl run -l rack=a memtester --artefact /out -d
  sledctl run n1 hpl-v3 --kernel debian-13-6.12.107 \
    --tune /sys/kernel/mm/transparent_hugepage/enabled=never -- ./xhpl 12800
  sledctl run n1 memtest-6 --timeout 2h
  sledctl run n1 burn-in --interrupt --timeout 8h > result.txt`,
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(a, args, cmd.ArgsLenAtDash()); err != nil {
				return sledFailed(err)
			}
			client, err := a.client()
			if err != nil {
				return sledFailed(err)
			}
			return sledFailed(f.run(cmd.Context(), a, client))
		},
	}
	f.define(a, command)
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return sledFailed(err) })
	return command
}

func (f *runFlags) define(a *app, command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&f.labels, "label", "l", nil, "take a node with this label (repeatable; all must match)")
	flags.StringVar(&f.entrypoint, "entrypoint", "", "program to run instead of the entry point of the image")
	flags.StringArrayVarP(&f.spec.Environment, "env", "e", nil, "variable NAME=VALUE (repeatable)")
	flags.StringArrayVar(&f.secrets, "secret", nil, "NAME=FILE: content for /run/secrets/NAME (repeatable)")
	flags.StringVar(&f.spec.Folder, "workdir", "", "working directory; default: that of the image")
	flags.StringVarP(&f.spec.User, "user", "u", "", "user and group as numbers, UID:GID; default: those of the image")
	flags.StringVar(&f.spec.Kernel, "kernel", "", "image of kind kernel to run on; default: that of the Sled system")
	flags.StringArrayVar(&f.arguments, "kernel-argument", nil, "argument of that kernel or a payload (repeatable)")
	flags.StringArrayVar(&f.spec.Tune, "tune", nil, "PATH=VALUE below /sys or /proc/sys, set first (repeatable)")
	flags.StringVar(&f.spec.Root, "root", "memory", "memory, or net: the image stays at the boot server, which exports it")
	flags.BoolVar(&f.spec.Privileged, "privileged", false, "the payload is root on the node, with its devices but disks")
	flags.StringArrayVar(&f.spec.Artefacts, "artefact", nil, "path to keep, see sledctl job files (repeatable)")
	flags.DurationVar(&f.timeout, "timeout", time.Hour, "end the payload after this time")
	flags.DurationVar(&f.grace, "grace", 10*time.Second, "time between SIGTERM and SIGKILL")
	flags.StringVar(&f.spec.After, "after", api.AfterReturn,
		"return: the node continues as before; hold: it waits in the Sled system; poweroff")
	flags.BoolVar(&f.spec.Interrupt, "interrupt", false, "also on a node whose system runs; it boots again afterwards")
	flags.BoolVarP(&f.detach, "detach", "d", false, "print the id of the job and leave it; see sledctl job logs")
	f.consent.define(command)
	_ = command.RegisterFlagCompletionFunc("kernel", func(cmd *cobra.Command, _ []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		return a.completeImages(cmd, nil, typed)
	})
	ends := []string{api.AfterReturn, api.AfterHold, api.AfterPoweroff}
	_ = command.RegisterFlagCompletionFunc("root", cobra.FixedCompletions([]string{"memory", api.NetRoot},
		cobra.ShellCompDirectiveNoFileComp))
	_ = command.RegisterFlagCompletionFunc("after", cobra.FixedCompletions(ends, cobra.ShellCompDirectiveNoFileComp))
}

// read makes the job of the command line. dash is the number of arguments before --; negative: there is none.
func (f *runFlags) read(a *app, args []string, dash int) error {
	named := args
	if dash >= 0 {
		named, f.spec.Command = args[:dash], args[dash:]
	}
	switch {
	case len(f.labels) > 0 && len(named) == 1:
		f.spec.Image = named[0]
	case len(f.labels) == 0 && len(named) == 2:
		f.spec.Node, f.spec.Image = named[0], named[1]
	default:
		return usagef("expected NODE IMAGE, or --label KEY=VALUE IMAGE; the command of the payload follows --")
	}
	for _, label := range f.labels {
		key, value, valid := strings.Cut(label, "=")
		if !valid {
			return usagef("--label %q: expected KEY=VALUE", label)
		}
		if f.spec.Labels == nil {
			f.spec.Labels = map[string]string{}
		}
		f.spec.Labels[key] = value
	}
	if f.timeout < time.Second || f.grace < time.Second {
		return usagef("--timeout and --grace are at least 1s")
	}
	f.spec.Timeout, f.spec.Grace = int(f.timeout/time.Second), int(f.grace/time.Second)
	f.spec.Arguments = strings.Join(f.arguments, " ")
	if f.entrypoint != "" {
		f.spec.Entrypoint = []string{f.entrypoint}
	}
	return f.readSecrets(a)
}

func (f *runFlags) readSecrets(a *app) error {
	for _, secret := range f.secrets {
		name, file, valid := strings.Cut(secret, "=")
		if !valid || name == "" || file == "" {
			return usagef("--secret: expected NAME=FILE")
		}
		content, err := a.readFile(file)
		if err != nil {
			return err
		}
		if f.spec.Secrets == nil {
			f.spec.Secrets = map[string]string{}
		}
		f.spec.Secrets[name] = string(content)
	}
	return nil
}

// run requests the job, and follows it.
func (f *runFlags) run(ctx context.Context, a *app, client *api.Client) error {
	shown, err := client.CreateJob(ctx, f.spec, api.DryRun())
	if err != nil {
		return err
	}
	node, err := client.Node(ctx, cmp.Or(shown.MAC, f.spec.Node))
	if err != nil {
		return err
	}
	if f.consent.dryRun {
		return a.show(shown, func() { a.printPreview(a.Out, runPreview(node, shown), 0) })
	}
	if err := f.consent.obtain(ctx, a, runPreview(node, shown)); err != nil {
		return err
	}
	job, err := client.CreateJob(ctx, f.spec)
	if err != nil {
		return err
	}
	if f.detach {
		return a.show(job, func() { _, _ = fmt.Fprintln(a.Out, job.ID) })
	}
	return (&follower{app: a, client: client, job: job, every: followEvery, signals: a.Signals}).run(ctx)
}

// runPreview is what a node loses by a job.
func runPreview(node api.Node, job api.Job) preview {
	name := wording.NodeName(node)
	p := preview{more: []string{fmt.Sprintf("%s: runs image %s once; its disks and its binding stay", name, job.Image)}}
	if job.Kernel != "" {
		p.more = append(p.more, fmt.Sprintf("%s: starts kernel %s for it, and restarts afterwards", name, job.Kernel))
	}
	if node.Status.Phase.Installed() || node.Status.Phase == api.Captured {
		after := "it boots again after the job"
		if b := node.Binding; b != nil && !b.Satisfied {
			after = fmt.Sprintf("its binding (generation %d) is carried out after the job", b.Generation)
		}
		p.lines = []string{fmt.Sprintf("%s: its system (%s) ends now or with its next boot; %s", name,
			cmp.Or(wording.Image(node), "unknown image"), after)}
		p.question = "Interrupt " + name + "?"
	}
	return p
}

func (a *app) completeRun(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	labels, _ := cmd.Flags().GetStringArray("label")
	switch {
	case len(args) == 0 && len(labels) == 0:
		return a.completeNodes(cmd, args, typed)
	case len(args) == 0 || len(args) == 1 && len(labels) == 0:
		return a.completeImages(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
