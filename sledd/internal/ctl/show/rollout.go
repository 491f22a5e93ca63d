// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Rollout prints one rollout, then a line for each node.
func (p *Printer) Rollout(r api.Rollout) {
	p.rolloutHead(r)
	_, _ = fmt.Fprintln(p.Out)
	Table(p.Out, p.Screen, []Column[api.NodeRun]{
		Col("node", func(n api.NodeRun) string { return n.Node }).Wraps(12),
		Col("wave", func(n api.NodeRun) string { return fmt.Sprint(n.Wave) }),
		Col("state", func(n api.NodeRun) string { return p.Screen.runState(n.State) }),
		Col("entry", func(n api.NodeRun) string { return n.EntryMethod }),
		Col("attempts", func(n api.NodeRun) string { return fmt.Sprint(n.Attempts) }).Spare(),
		Col("start", func(n api.NodeRun) string { return n.Start }),
		Col("took", func(n api.NodeRun) string { return wording.RunTook(n, rollout.AsOf(r, p.Now())) }),
		Col("reason", func(n api.NodeRun) string { return n.Reason.String() }).Wraps(24),
	}, r.Runs)
}

// rolloutHead prints the state of a rollout in a few lines.
func (p *Printer) rolloutHead(r api.Rollout) {
	state := p.Screen.RolloutState(r)
	if !r.Reason.IsZero() {
		state += ": " + r.Reason.String()
	}
	show := func(line string) { _, _ = fmt.Fprintln(p.Out, p.Screen.Hang(line, 2)) }
	show(p.Screen.Paint(r.Name, text.Bold) + "  " + state)
	words := []string{wording.Clean(r.Desired), "started " + wording.Time(r.Started)}
	if r.Owner != "" {
		words = append(words, "by "+r.Owner)
	}
	words = append(words, "took "+wording.Clock(wording.RolloutTook(r, p.Now())))
	if r.Resumed > 0 {
		words = append(words, fmt.Sprintf("resumed %d times", r.Resumed))
	}
	show(strings.Join(words, ", "))
	show(p.RolloutCounts(r))
}

// RolloutCounts are the counts of a rollout and its current wave.
func (p *Printer) RolloutCounts(r api.Rollout) string {
	c := r.Counts
	failed := fmt.Sprintf("%d failed", c.Failed)
	if sizes, err := rollout.SizesOf(r.RolloutSpec, len(r.Nodes)); err == nil {
		failed += fmt.Sprintf(" (%d allowed)", sizes.Budget)
	}
	if c.Failed > 0 {
		failed = p.Screen.Paint(failed, text.FgRed)
	}
	done := p.Screen.Paint(fmt.Sprintf("%d done", c.Done), text.FgGreen)
	running := p.Screen.Paint(fmt.Sprintf("%d running", c.Running), text.FgCyan)
	return fmt.Sprintf("wave %d/%d, %s, %s, %d waiting, %s",
		wording.CurrentWave(r), len(r.Waves), done, running, c.Waiting, failed)
}

// RolloutState is the state of a rollout in words, and in red if nobody follows it.
func (s Screen) RolloutState(r api.Rollout) string {
	if r.Silent > 0 {
		return s.Paint(string(r.State)+", "+wording.Silent(r), text.FgRed, text.Bold)
	}
	return s.Paint(string(r.State), map[api.RolloutState]text.Colors{
		api.RolloutRunning: {text.FgCyan},
		api.RolloutDone:    {text.FgGreen},
		api.RolloutStopped: {text.FgRed, text.Bold},
		api.RolloutAborted: {text.FgYellow},
	}[r.State]...)
}

func (s Screen) runState(state api.RunState) string {
	return s.Paint(string(state), map[api.RunState]text.Colors{
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
	return s.Paint(fmt.Sprint(n), text.FgRed)
}

// RolloutColumns returns the columns of a list of rollouts.
func (p *Printer) RolloutColumns() []Column[api.Rollout] {
	return []Column[api.Rollout]{
		Col("name", func(r api.Rollout) string { return r.Name }),
		Col("state", func(r api.Rollout) string { return p.Screen.RolloutState(r) }).Wraps(16),
		Col("request", func(r api.Rollout) string { return wording.Clean(r.Desired) }).Wraps(12),
		Col("waves", func(r api.Rollout) string { return fmt.Sprint(len(r.Waves)) }).Spare(),
		Col("nodes", func(r api.Rollout) string { return fmt.Sprint(len(r.Nodes)) }),
		Col("done", func(r api.Rollout) string { return fmt.Sprint(r.Counts.Done) }),
		Col("failed", func(r api.Rollout) string { return p.Screen.failedCount(r.Counts.Failed) }),
		Col("started", func(r api.Rollout) string { return wording.Time(r.Started) }).Wraps(10).Spare(),
		Col("took", func(r api.Rollout) string { return wording.Clock(wording.RolloutTook(r, p.Now())) }),
		Col("reason", func(r api.Rollout) string { return r.Reason.String() }).Wraps(13),
	}
}
