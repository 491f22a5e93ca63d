// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"slices"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// RolloutReport prints failures, then durations.
func (p *Printer) RolloutReport(one api.Rollout, s rollout.Summary) {
	p.rolloutHead(one)
	if len(s.Failures) > 0 {
		_, _ = fmt.Fprintln(p.Out)
		Table(p.Out, p.Screen, []Column[rollout.Failure]{
			Col("failed", func(f rollout.Failure) string { return p.Screen.Paint(f.Node, text.FgRed) }).Wraps(12),
			Col("wave", func(f rollout.Failure) string { return fmt.Sprint(f.Wave) }),
			Col("entry", func(f rollout.Failure) string { return f.EntryMethod }),
			Col("in", func(f rollout.Failure) string { return f.Stage }),
			Col("after", func(f rollout.Failure) string { return wording.Seconds(f.Seconds) }),
			Col("reason", func(f rollout.Failure) string { return f.Reason.String() }).Wraps(30),
		}, s.Failures)
	}
	if len(s.Alarms) > 0 {
		_, _ = fmt.Fprintln(p.Out)
	}
	for _, alarm := range s.Alarms {
		p.AlarmLine(alarm.Node, alarm.Alarm)
	}
	for _, sent := range s.Sent {
		_, _ = fmt.Fprintln(p.Out, "\n"+p.Screen.Hang(wording.Sent(sent), 2))
	}
	p.figures("stage", s.Stages, false)
	p.figures("started by", s.Starts, false)
	p.figures("entry method", s.EntryMethods, true)
}

// figures prints one table of durations; nothing if none was measured.
func (p *Printer) figures(header string, list []rollout.Figures, failures bool) {
	if len(list) == 0 {
		return
	}
	_, _ = fmt.Fprintln(p.Out)
	measured := func(f rollout.Figures, value float64) string {
		if f.Of == "" {
			return ""
		}
		return wording.Seconds(value)
	}
	columns := []Column[rollout.Figures]{
		Col(header, func(f rollout.Figures) string { return f.Name }),
		Col("nodes", func(f rollout.Figures) string { return fmt.Sprint(f.Nodes) }),
		Col("median", func(f rollout.Figures) string { return measured(f, f.Median) }),
		Col("worst", func(f rollout.Figures) string { return measured(f, f.Worst) }),
		Col("of", func(f rollout.Figures) string { return f.Of }).Wraps(12),
	}
	if failures {
		failed := Col("failed", func(f rollout.Figures) string { return p.Screen.failedCount(f.Failed) })
		columns = slices.Insert(columns, 2, failed)
	}
	Table(p.Out, p.Screen, columns, list)
}
