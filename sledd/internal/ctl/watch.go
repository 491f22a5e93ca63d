// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/live"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	pollEvery = time.Second            // default; no event reports progress
	pollSoon  = 100 * time.Millisecond // after an event; gathers events that come together
)

// watch is one run of `sledctl watch`.
type watch struct {
	*app
	client  *api.Client
	names   []string
	filter  api.Filter
	wait    bool
	timeout time.Duration
	every   time.Duration
	view    live.View
	judge   func(api.Node) live.Verdict
	nodes   []api.Node // of the last successful poll
	trouble error      // of the last poll
}

func (a *app) watchCommand() *cobra.Command {
	w := &watch{app: a, judge: live.Judge}
	command := &cobra.Command{
		Use: "watch [NODE...]", Short: "Watch nodes live, with one progress bar each",
		Long: `Watches nodes until interrupted. Without a terminal, it prints one line for
each change.

With --wait, the command ends when the bindings of all nodes are satisfied. If
a node fails, it prints the reason and exits with code 1.`,
		Example:           "  sledctl watch\n  sledctl watch --wait --timeout 10m n1 n2",
		ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.output != "table" {
				return usagef("watch prints progress; for -o %s use sledctl status", a.output)
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			w.client, w.names, w.view = client, args, live.Nodes(a.Printer)
			return w.run(cmd.Context())
		},
	}
	addFilters(command, &w.filter)
	command.Flags().BoolVarP(&w.wait, "wait", "w", false,
		"end when the bindings of all nodes are satisfied, or a node fails")
	command.Flags().DurationVar(&w.every, "interval", pollEvery, "time between two polls; events cause a poll at once")
	command.Flags().DurationVar(&w.timeout, "timeout", 0, "give up after this time, such as 20m; default: no limit")
	return command
}

// run polls, soon after an event, until the requested end.
func (w *watch) run(ctx context.Context) error {
	defer w.view.End()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	happened := make(chan struct{}, 1)
	go w.listen(ctx, happened)
	var late <-chan time.Time
	if w.timeout > 0 {
		late = time.After(w.timeout)
	}
	if done, err := w.poll(ctx); done || err != nil {
		return err
	}
	next := time.NewTimer(w.every)
	defer next.Stop()
	soon := false // many events must not delay the poll again and again
	for {
		select {
		case <-ctx.Done():
			return w.interrupted()
		case <-late:
			return w.timedOut()
		case <-happened:
			if !soon {
				soon = true
				next.Reset(min(pollSoon, w.every))
			}
		case <-next.C:
			soon = false
			if done, err := w.poll(ctx); done || err != nil {
				return err
			}
			next.Reset(w.every)
		}
	}
}

// listen signals events, so that a poll follows. If the stream fails, the watch polls at its interval.
func (w *watch) listen(ctx context.Context, happened chan<- struct{}) {
	follow := api.Follow{}
	if len(w.names) == 1 {
		follow.Node = w.names[0]
	}
	for _, err := range w.client.Stream(ctx, follow) {
		if err != nil {
			return
		}
		select {
		case happened <- struct{}{}:
		default:
		}
	}
}

// poll reads and shows the nodes. An unreachable server is shown and polled again; a refusal ends the watch.
func (w *watch) poll(ctx context.Context) (done bool, err error) {
	nodes, err := selectNodes(ctx, w.client, w.names, w.filter)
	switch {
	case err == nil:
		w.nodes, w.trouble = nodes, nil
	case api.IsUnreachable(err):
		w.trouble = err
	case errors.Is(err, context.Canceled):
		return true, w.interrupted()
	default:
		return true, err
	}
	w.view.Draw(w.nodes, w.trouble)
	if !w.wait || w.trouble != nil {
		return false, nil //nolint:nilerr // shown; the next poll tries again
	}
	return w.ended()
}

// ended reports whether --wait is over, with the failures as an error.
func (w *watch) ended() (bool, error) {
	if len(w.nodes) == 0 {
		return true, errors.New("no node to wait for")
	}
	var failed []string
	pending := 0
	for _, node := range w.nodes {
		switch w.judge(node) {
		case live.Failed:
			failed = append(failed, wording.NodeName(node)+": "+wording.Reason(node.Status))
		case live.Pending:
			pending++
		case live.Done:
		}
	}
	if len(failed) > 0 {
		w.view.End()
		for _, node := range w.nodes {
			w.Hint(node)
		}
		return true, errors.New(strings.Join(failed, "\n"))
	}
	return pending == 0, nil
}

func (w *watch) interrupted() error {
	if w.wait {
		return errors.New("interrupted while waiting")
	}
	return nil
}

func (w *watch) timedOut() error {
	if !w.wait {
		return nil
	}
	var waiting []string
	for _, node := range w.nodes {
		if w.judge(node) == live.Pending {
			waiting = append(waiting, fmt.Sprintf("%s is %s", wording.NodeName(node), wording.Phase(node.Status.Phase)))
		}
	}
	if w.trouble != nil {
		waiting = append(waiting, w.trouble.Error())
	}
	return fmt.Errorf("not done within %s: %s", w.timeout, strings.Join(waiting, ", "))
}
