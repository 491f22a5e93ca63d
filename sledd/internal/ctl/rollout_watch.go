// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/live"
)

// rolloutWatch is one run of `sledctl rollout watch`.
type rolloutWatch struct {
	*app
	client  *api.Client
	names   []string
	timeout time.Duration
	every   time.Duration
	show    func(r api.Rollout, nodes []api.Node, trouble error)
	last    api.Rollout
}

func (a *app) rolloutWatchCommand() *cobra.Command {
	w := &rolloutWatch{app: a}
	command := &cobra.Command{
		Use: "watch [NAME]", Short: "Watch a rollout until it ends, by default the newest",
		Long: `Shows the wave, counts and failure budget of a rollout, a progress bar for each
running node, and the failures with their reasons. Without a terminal, it
prints one line for each change.

The command ends with the rollout, or when the rollout is stopped and no node
runs any more. The exit code is 1 if the rollout was stopped or aborted, or if
nodes failed.`,
		Example: "  sledctl rollout watch\n  sledctl rollout watch reimage-7 --timeout 2h",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completeRollouts,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.output != "table" {
				return usagef("watch prints progress; for -o %s use sledctl rollout get", a.output)
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			w.client, w.names = client, args
			w.show = live.Rollout(a.Printer)
			return w.run(cmd.Context())
		},
	}
	command.Flags().DurationVar(&w.every, "interval", pollEvery, "time between two polls")
	command.Flags().DurationVar(&w.timeout, "timeout", 0, "give up after this time, such as 2h; default: no limit")
	return command
}

func (w *rolloutWatch) run(ctx context.Context) error {
	var late <-chan time.Time
	if w.timeout > 0 {
		late = time.After(w.timeout)
	}
	tick := time.NewTicker(max(w.every, time.Millisecond))
	defer tick.Stop()
	for {
		if ended, err := w.poll(ctx); ended || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("interrupted while the rollout runs")
		case <-late:
			c := w.last.Counts
			return fmt.Errorf("rollout %s did not end within %s: %d running, %d waiting",
				w.last.Name, w.timeout, c.Running, c.Waiting)
		case <-tick.C:
		}
	}
}

// poll reads and shows the rollout and its running nodes. An unreachable server is shown and polled again; a refusal
// ends the watch.
func (w *rolloutWatch) poll(ctx context.Context) (bool, error) {
	r, err := oneRollout(ctx, w.client, w.names)
	var nodes []api.Node
	if err == nil {
		w.names = []string{r.Name} // not a newer one
		nodes, err = running(ctx, w.client, r)
	}
	switch {
	case err == nil:
		w.last = r
		w.show(r, nodes, nil)
	case api.IsUnreachable(err):
		w.show(w.last, nil, err)
		return false, nil
	case errors.Is(err, context.Canceled):
		return true, errors.New("interrupted while the rollout runs")
	default:
		return true, err
	}
	if r.State == api.RolloutRunning || r.State == api.RolloutStopped && r.Counts.Running > 0 {
		return false, nil
	}
	return true, rolloutVerdict(r)
}

// rolloutVerdict is nil if all nodes are done.
func rolloutVerdict(r api.Rollout) error {
	switch {
	case r.State != api.RolloutDone:
		return fmt.Errorf("rollout %s was %s: %s", r.Name, r.State, r.Reason.String())
	case r.Counts.Failed > 0:
		return fmt.Errorf("rollout %s is done, but %d of %d nodes failed: sledctl rollout report %s",
			r.Name, r.Counts.Failed, len(r.Nodes), r.Name)
	}
	return nil
}

// running returns the running nodes of a rollout, in its order.
func running(ctx context.Context, client *api.Client, r api.Rollout) ([]api.Node, error) {
	if r.Counts.Running == 0 {
		return nil, nil
	}
	place := map[string]int{}
	for i, run := range r.Runs {
		if run.State == api.RunRunning {
			place[run.MAC] = i
		}
	}
	var nodes []api.Node
	for node, err := range client.Nodes(ctx, api.Filter{}) {
		if err != nil {
			return nil, err
		}
		if _, runs := place[node.MAC]; runs {
			nodes = append(nodes, node)
		}
	}
	slices.SortFunc(nodes, func(x, y api.Node) int { return place[x.MAC] - place[y.MAC] })
	return nodes, nil
}
