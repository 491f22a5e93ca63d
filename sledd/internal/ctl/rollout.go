// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

var errNoRollout = errors.New("no rollout exists yet")

func (a *app) rollouts() *resource[api.Rollout] {
	return &resource[api.Rollout]{
		noun: "rollout", plural: "rollouts, newest first", placeholder: "NAME",
		columns: []column[api.Rollout]{
			col("name", func(r api.Rollout) string { return r.Name }),
			col("state", func(r api.Rollout) string { return a.Screen.rolloutState(r) }).wraps(16),
			col("request", func(r api.Rollout) string { return clean(r.Desired) }).wraps(12),
			col("waves", func(r api.Rollout) string { return fmt.Sprint(len(r.Waves)) }).spare(),
			col("nodes", func(r api.Rollout) string { return fmt.Sprint(len(r.Nodes)) }),
			col("done", func(r api.Rollout) string { return fmt.Sprint(r.Counts.Done) }),
			col("failed", func(r api.Rollout) string { return a.Screen.failedCount(r.Counts.Failed) }),
			col("started", func(r api.Rollout) string { return localTime(r.Started) }).wraps(10).spare(),
			col("took", func(r api.Rollout) string { return clock(rolloutTook(r, a.Now())) }),
			col("reason", func(r api.Rollout) string { return r.Reason.String() }).wraps(13),
		},
		list: func(ctx context.Context, c *api.Client, _ api.Filter) ([]api.Rollout, error) {
			return c.Rollouts(ctx)
		},
		get: func(ctx context.Context, c *api.Client, name string) (api.Rollout, error) {
			return c.Rollout(ctx, name)
		},
		detail:   a.rolloutDetail,
		complete: a.completeRollouts,
		examples: examples{list: "sledctl rollout list", get: "sledctl rollout get reimage-7"},
	}
}

func (a *app) rolloutCommand() *cobra.Command {
	r := a.rollouts()
	return group("rollout", "Inspect, watch and abort rollouts: imaging in waves", r.listCommand(a),
		r.getCommand(a), a.rolloutWatchCommand(), a.rolloutAbortCommand(), a.rolloutReportCommand())
}

func (a *app) rolloutAbortCommand() *cobra.Command {
	return &cobra.Command{
		Use: "abort NAME", Short: "Abort a rollout",
		Long: `Aborts a rollout: none of its waiting nodes is started any more. The same
request then starts a new rollout instead of resuming this one. Nodes that are
being imaged are not interrupted.`,
		Example: "  sledctl rollout abort reimage-7",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeRollouts,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			one, err := client.AbortRollout(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			one.Runs = nil
			return a.rollouts().print(a, []api.Rollout{one})
		},
	}
}

// oneRollout reads the named rollout, or else the newest.
func oneRollout(ctx context.Context, client *api.Client, names []string) (api.Rollout, error) {
	if len(names) > 0 {
		return client.Rollout(ctx, names[0])
	}
	all, err := client.Rollouts(ctx)
	if err != nil {
		return api.Rollout{}, err
	}
	if len(all) == 0 {
		return api.Rollout{}, errNoRollout
	}
	return client.Rollout(ctx, all[0].Name)
}

func (a *app) completeRollouts(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(ctx context.Context, client *api.Client) (names []string) {
		all, err := client.Rollouts(ctx)
		if err != nil {
			return nil
		}
		for _, one := range all {
			names = append(names, one.Name+"\t"+string(one.State)+", "+one.Desired)
		}
		return names
	})
}

// rolloutDetail prints one rollout, then a line for each node.
func (a *app) rolloutDetail(r api.Rollout) {
	a.rolloutHead(r)
	_, _ = fmt.Fprintln(a.Out)
	printTable(a.Out, a.Screen, []column[api.NodeRun]{
		col("node", func(n api.NodeRun) string { return n.Node }).wraps(12),
		col("wave", func(n api.NodeRun) string { return fmt.Sprint(n.Wave) }),
		col("state", func(n api.NodeRun) string { return a.Screen.runState(n.State) }),
		col("entry", func(n api.NodeRun) string { return n.EntryMethod }),
		col("attempts", func(n api.NodeRun) string { return fmt.Sprint(n.Attempts) }).spare(),
		col("start", func(n api.NodeRun) string { return n.Start }),
		col("took", func(n api.NodeRun) string { return runTook(n, rollout.AsOf(r, a.Now())) }),
		col("reason", func(n api.NodeRun) string { return n.Reason.String() }).wraps(24),
	}, r.Runs)
}

// rolloutHead prints the state of a rollout in a few lines.
func (a *app) rolloutHead(r api.Rollout) {
	state := a.Screen.rolloutState(r)
	if !r.Reason.IsZero() {
		state += ": " + r.Reason.String()
	}
	show := func(line string) { _, _ = fmt.Fprintln(a.Out, a.Screen.hang(line, 2)) }
	show(a.Screen.paint(r.Name, text.Bold) + "  " + state)
	words := []string{clean(r.Desired), "started " + localTime(r.Started)}
	if r.Owner != "" {
		words = append(words, "by "+r.Owner)
	}
	words = append(words, "took "+clock(rolloutTook(r, a.Now())))
	if r.Resumed > 0 {
		words = append(words, fmt.Sprintf("resumed %d times", r.Resumed))
	}
	show(strings.Join(words, ", "))
	show(a.rolloutCounts(r))
}

// rolloutCounts are the counts of a rollout and its current wave.
func (a *app) rolloutCounts(r api.Rollout) string {
	c := r.Counts
	failed := fmt.Sprintf("%d failed", c.Failed)
	if sizes, err := rollout.SizesOf(r.RolloutSpec, len(r.Nodes)); err == nil {
		failed += fmt.Sprintf(" (%d allowed)", sizes.Budget)
	}
	if c.Failed > 0 {
		failed = a.Screen.paint(failed, text.FgRed)
	}
	done := a.Screen.paint(fmt.Sprintf("%d done", c.Done), text.FgGreen)
	running := a.Screen.paint(fmt.Sprintf("%d running", c.Running), text.FgCyan)
	return fmt.Sprintf("wave %d/%d, %s, %s, %d waiting, %s",
		currentWave(r), len(r.Waves), done, running, c.Waiting, failed)
}

// currentWave is the last wave that has started, or the first.
func currentWave(r api.Rollout) int {
	wave := 1
	for _, run := range r.Runs {
		if run.State != api.RunWaiting {
			wave = max(wave, run.Wave)
		}
	}
	return wave
}

func rolloutTook(r api.Rollout, now time.Time) time.Duration {
	switch {
	case !r.Ended.IsZero():
		return r.Ended.Sub(r.Started)
	case r.State == api.RolloutRunning && r.Counts.Running > 0:
		return rollout.AsOf(r, now).Sub(r.Started)
	}
	return r.Seen.Sub(r.Started)
}

func runTook(n api.NodeRun, now time.Time) string {
	if n.State == api.RunWaiting {
		return ""
	}
	return clock(time.Duration(rollout.Took(n, now) * float64(time.Second)))
}

// rolloutState is the state of a rollout in words, and in red if nobody follows it.
func (s Screen) rolloutState(r api.Rollout) string {
	if r.Silent > 0 {
		return s.paint(string(r.State)+", "+silentText(r), text.FgRed, text.Bold)
	}
	return s.paint(string(r.State), map[api.RolloutState]text.Colors{
		api.RolloutRunning: {text.FgCyan},
		api.RolloutDone:    {text.FgGreen},
		api.RolloutStopped: {text.FgRed, text.Bold},
		api.RolloutAborted: {text.FgYellow},
	}[r.State]...)
}

// silentText is for how long the runner of a rollout was not heard; empty: it was.
func silentText(r api.Rollout) string {
	if r.Silent == 0 {
		return ""
	}
	return "nobody follows it for " + durationText(time.Duration(r.Silent)*time.Second)
}

func (s Screen) runState(state api.RunState) string {
	return s.paint(string(state), map[api.RunState]text.Colors{
		api.RunWaiting: {text.Faint},
		api.RunRunning: {text.FgCyan},
		api.RunDone:    {text.FgGreen},
		api.RunFailed:  {text.FgRed, text.Bold},
	}[state]...)
}

func (s Screen) failedCount(n int) string {
	if n == 0 {
		return "0"
	}
	return s.paint(fmt.Sprint(n), text.FgRed)
}
