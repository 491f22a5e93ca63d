// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
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
			lines := &rolloutLines{app: a, states: map[string]api.RunState{}}
			w.show = lines.show
			if a.Screen.Terminal {
				w.show = (&rolloutLive{liveView: liveView{app: a, begin: a.Now()}}).show
			}
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

// rolloutLive draws a rollout: its head, the running nodes, the failures.
type rolloutLive struct{ liveView }

func (v *rolloutLive) show(r api.Rollout, nodes []api.Node, trouble error) {
	width, height := v.Screen.Size()
	width = max(width-1, narrowest)
	var rows []string
	if r.Name != "" {
		rows = v.head(r, width)
		room := height - len(rows) - 2
		if len(nodes) > 0 {
			room /= 2
		}
		failures := v.failures(r, width, room)
		if len(nodes) > 0 {
			rows = append(rows, "")
			rows = append(rows, v.rows(nodes, width, max(height-len(rows)-len(failures)-2, 1))...)
		}
		rows = append(rows, failures...)
	}
	if trouble != nil {
		rows = append(rows, fit(v.Screen.paint(trouble.Error()+"; retrying", text.FgRed), width))
	}
	v.paintRows(rows)
}

// head is the rollout in three rows: what, where, and a bar of all its nodes.
func (v *rolloutLive) head(r api.Rollout, width int) []string {
	state := v.Screen.rolloutState(r)
	if !r.Reason.IsZero() {
		state += ": " + v.Screen.paint(r.Reason.String(), text.FgRed)
	}
	return []string{
		fit(fmt.Sprintf("%s  %s  %s", v.Screen.paint(r.Name, text.Bold), clean(r.Desired), state), width),
		fit(fmt.Sprintf("%s   %s", v.rolloutCounts(r), clock(rolloutTook(r, v.Now()))), width),
		v.whole(r.Counts, min(width, widestBars)),
	}
}

// whole is one bar of all nodes: done, failed, running, waiting.
func (v *rolloutLive) whole(c api.RolloutCount, width int) string {
	all := c.Done + c.Failed + c.Running + c.Waiting
	drawn, cells, nodes := "", 0, 0
	for _, part := range []struct {
		nodes   int
		cell    string
		colours text.Colors
	}{
		{c.Done, barFull, text.Colors{text.FgGreen}}, {c.Failed, barFull, text.Colors{text.FgRed}},
		{c.Running, "╍", text.Colors{text.FgCyan}}, {c.Waiting, barEmpty, text.Colors{text.Faint}},
	} {
		nodes += part.nodes
		until := nodes * width / max(all, 1)
		drawn += v.Screen.paint(strings.Repeat(part.cell, until-cells), part.colours...)
		cells = until
	}
	return drawn
}

// failures are the newest failed nodes with their reasons, as far as there is room.
func (v *rolloutLive) failures(r api.Rollout, width, room int) []string {
	var failed []api.NodeRun
	for _, run := range r.Runs {
		if run.State == api.RunFailed {
			failed = append(failed, run)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	slices.SortStableFunc(failed, func(x, y api.NodeRun) int { return y.End.Compare(x.End) })
	rows := []string{""}
	for i, run := range failed {
		of := v.failure(run, width)
		if i > 0 && len(rows)+len(of) >= room {
			more := fmt.Sprintf("and %d more failed: sledctl rollout report %s", len(failed)-i, r.Name)
			return append(rows, v.Screen.paint(fit(more, width), text.Faint))
		}
		rows = append(rows, of...)
	}
	return rows
}

// failure is one failed node, in one or two rows: the reason matters most.
func (v *rolloutLive) failure(run api.NodeRun, width int) []string {
	words := fmt.Sprintf("✗ %s (wave %d%s): %s", run.Node, run.Wave, prefixed(", ", run.EntryMethod, ""),
		run.Reason.String())
	words = strings.Join(strings.Fields(words), " ") // as WrapSoft does
	first, _, _ := strings.Cut(text.WrapSoft(words, width), "\n")
	first = strings.TrimRight(first, " ")
	rows := []string{v.Screen.paint(fit(first, width), text.FgRed)}
	if rest := strings.TrimSpace(strings.TrimPrefix(words, first)); rest != "" {
		rows = append(rows, v.Screen.paint(fit("  "+rest, width), text.FgRed))
	}
	return rows
}

// rolloutLines prints a line when a node or the rollout starts or ends.
type rolloutLines struct {
	*app
	state  api.RolloutState
	states map[string]api.RunState
	silent bool   // nobody followed it
	shown  string // trouble that was printed last
}

func (v *rolloutLines) show(r api.Rollout, _ []api.Node, trouble error) {
	now := v.Now().Local().Format(time.TimeOnly)
	printf := func(format string, values ...any) {
		_, _ = fmt.Fprintf(v.Out, "%s %s\n", now, fmt.Sprintf(format, values...))
	}
	if trouble != nil {
		if v.shown != trouble.Error() {
			v.shown = trouble.Error()
			printf("%s", v.shown)
		}
		return
	}
	v.shown = ""
	first := v.state == ""
	if first {
		printf("%s %s: %s", r.Name, clean(r.Desired), v.rolloutCounts(r))
	}
	for _, run := range r.Runs {
		before, known := v.states[run.MAC]
		v.states[run.MAC] = run.State
		if run.State == before || !known && run.State != api.RunFailed && run.State != api.RunRunning {
			continue
		}
		printf("wave %d: %s %s", run.Wave, run.Node, v.runWords(run))
	}
	if r.State != v.state && (!first || r.State != api.RolloutRunning) {
		printf("%s %s%s: %s", r.Name, r.State, prefixed(" (", r.Reason.String(), ")"), v.rolloutCounts(r))
	}
	if silent := r.Silent > 0; silent != v.silent {
		v.silent = silent
		printf("%s %s", r.Name, followText(r))
	}
	v.state = r.State
}

// followText tells that nobody follows a rollout any more, or that it is followed again.
func followText(r api.Rollout) string {
	if r.Silent == 0 {
		return "is followed again"
	}
	return "runs, but " + silentText(r) + ": the same command resumes it"
}

// runWords describes the state of a node.
func (v *rolloutLines) runWords(run api.NodeRun) string {
	switch run.State {
	case api.RunRunning:
		return "running" + prefixed(" (", run.EntryMethod, ")")
	case api.RunDone:
		how := strings.TrimPrefix(run.EntryMethod+", "+run.Start, ", ")
		return "done in " + runTook(run, v.Now()) + prefixed(" (", how, ")")
	case api.RunFailed:
		return "failed after " + runTook(run, v.Now()) + ": " + run.Reason.String()
	case api.RunWaiting:
	}
	return "waiting"
}

// prefixed puts words between others; it is empty without words.
func prefixed(before, words, after string) string {
	words = strings.TrimSuffix(words, ", ")
	if words == "" {
		return ""
	}
	return before + words + after
}
