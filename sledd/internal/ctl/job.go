// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

func (a *app) jobCommand() *cobra.Command {
	return group("job", "List jobs, read their output and files, cancel them",
		a.jobListCommand(), a.jobGetCommand(), a.jobLogsCommand(), a.jobFilesCommand(), a.jobCancelCommand())
}

func (a *app) jobListCommand() *cobra.Command {
	var filter api.JobFilter
	command := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List jobs, the newest first",
		Long:    `Lists jobs, those that have ended too. sledd keeps the newest 1,000.`,
		Example: "  sledctl job list\n  sledctl job list --node n1 --state running",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions, Annotations: printsNames,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			jobs, err := client.Jobs(cmd.Context(), filter)
			if err != nil {
				return err
			}
			return a.show(jobs, func() { show.Table(a.Out, a.Screen, show.JobColumns, jobs) })
		},
	}
	command.Flags().StringVar(&filter.Node, "node", "", "only jobs of this node")
	command.Flags().StringVar((*string)(&filter.State), "state", "",
		"only jobs in this state: waiting, preparing, running, done, failed, cancelled or lost")
	command.Flags().IntVar(&filter.Limit, "limit", 0, "at most this many; default: 100")
	return command
}

// withJob is a command that reads one job first.
func (a *app) withJob(command cobra.Command, run func(context.Context, *api.Client, api.Job) error) *cobra.Command {
	command.Args, command.ValidArgsFunction = cobra.ExactArgs(1), a.completeJobs
	command.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := a.client()
		if err != nil {
			return err
		}
		job, err := client.Job(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return run(cmd.Context(), client, job)
	}
	return &command
}

func (a *app) jobGetCommand() *cobra.Command {
	return a.withJob(cobra.Command{Use: "get JOB", Aliases: []string{"show"}, Short: "Show one job",
		Example: "  sledctl job get 1kq7d2g3r9qa -o json", Annotations: printsNames},
		func(_ context.Context, _ *api.Client, job api.Job) error {
			return a.show(job, func() { a.Job(job) })
		})
}

func (a *app) jobLogsCommand() *cobra.Command {
	follow := false
	command := a.withJob(cobra.Command{Use: "logs JOB", Short: "Print the output of a payload",
		Long: `Prints what a payload wrote, byte for byte: its standard output on standard
output, its standard error on standard error. With -f, until the job ends, and
then with the exit code of the payload, as sledctl run.`,
		Example: "  sledctl job logs 1kq7d2g3r9qa > out.txt 2> err.txt\n  sledctl job logs -f 1kq7d2g3r9qa"},
		func(ctx context.Context, client *api.Client, job api.Job) error {
			f := &follower{app: a, client: client, job: job, every: followEvery, quiet: true, once: !follow}
			return f.run(ctx)
		})
	command.Flags().BoolVarP(&follow, "follow", "f", false, "print output as it arrives, until the job ends")
	return command
}

func (a *app) jobCancelCommand() *cobra.Command {
	return a.withJob(cobra.Command{Use: "cancel JOB", Short: "Cancel a job",
		Long: `Cancels a job. A payload that runs gets SIGTERM, and after the grace of its job
SIGKILL. A second time, it does not wait for that.`,
		Example: "  sledctl job cancel 1kq7d2g3r9qa"},
		func(ctx context.Context, client *api.Client, job api.Job) error {
			cancelled, err := client.CancelJob(ctx, job.ID)
			if err != nil {
				return err
			}
			return a.show(cancelled, func() { a.Say(a.Out, "%s", cancelledText(cancelled)) })
		})
}

func cancelledText(j api.Job) string {
	if j.State.Ended() {
		return fmt.Sprintf("job %s is %s", j.ID, j.State)
	}
	return fmt.Sprintf("job %s ends: its payload gets SIGTERM, after %d s SIGKILL", j.ID, j.Grace)
}

func (a *app) jobFilesCommand() *cobra.Command {
	return a.withJob(cobra.Command{Use: "files JOB", Short: "Print the artefacts of a job, as a tar",
		Long: `Writes the artefacts that sledctl run --artefact named, as one tar, to standard
output. The exit code is not 0 unless its SHA-256 is that of the node.`,
		Example: "  sledctl job files 1kq7d2g3r9qa | tar x"},
		func(ctx context.Context, client *api.Client, job api.Job) error {
			if job.Files == nil {
				return fmt.Errorf("job %s (%s) has no artefacts", job.ID, job.State)
			}
			if a.Screen.Terminal {
				return usagef("a tar is not for a terminal: redirect it to a file, or to tar x")
			}
			tar := &stream{name: "files", to: a.Out, next: 1, sum: sha256.New()}
			if err := (&follower{app: a, client: client, job: job}).copy(ctx, tar); err != nil {
				return err
			}
			if tar.bytes == 0 && job.Files.Bytes > 0 {
				return fmt.Errorf("the artefacts of job %s were removed from the boot server", job.ID)
			}
			if got := hex.EncodeToString(tar.sum.Sum(nil)); got != job.Files.SHA256 {
				return &forgedError{fmt.Errorf("artefacts of job %s: SHA-256 is %s, the node sent %s", job.ID, got,
					job.Files.SHA256)}
			}
			return nil
		})
}

func (a *app) completeJobs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(ctx context.Context, client *api.Client) (ids []string) {
		jobs, err := client.Jobs(ctx, api.JobFilter{})
		if err != nil {
			return nil
		}
		for _, job := range jobs {
			ids = append(ids, fmt.Sprintf("%s\t%s on %s", job.ID, job.State, job.Node))
		}
		return ids
	})
}
