// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) timelineCommand() *cobra.Command {
	return &cobra.Command{
		Use: "timeline NODE...", Short: "Show the duration of each stage of a node's last run",
		Example: "  sledctl timeline n1\n  sledctl timeline n1 -o json",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			timelines := make([]api.Timeline, 0, len(args))
			for _, name := range args {
				timeline, err := client.Timeline(cmd.Context(), name)
				if err != nil {
					return err
				}
				timelines = append(timelines, timeline)
			}
			var value any = timelines
			if len(timelines) == 1 {
				value = timelines[0]
			}
			return a.show(value, func() {
				for i, timeline := range timelines {
					if i > 0 {
						_, _ = fmt.Fprintln(a.Out)
					}
					a.timeline(timeline)
				}
			})
		},
	}
}

const (
	stageName  = 11 // cells, "configure" and a gap
	stageTime  = 10 // cells, "12345.6 s"
	stageRate  = 12 // cells, "  12345 MB/s"
	widestBars = 100
)

// timeline draws one bar for each stage, placed within the run.
func (a *app) timeline(t api.Timeline) {
	s := a.Screen
	generation := fmt.Sprintf("generation %d", t.Generation)
	head := []string{s.paint(dash(t.Name), text.Bold), t.MAC, generation, s.phaseText(t.Phase), localTime(t.Begin)}
	_, _ = fmt.Fprintln(a.Out, s.hang(strings.TrimSpace(strings.Join(head, "  ")), 2))
	if len(t.Stages) == 0 {
		_, _ = fmt.Fprintln(a.Out, "  no run yet")
		return
	}
	width := min(s.width()-stageName-stageTime-stageRate-3, widestBars)
	rated := s.width() > stageName+stageTime+stageRate+12
	for _, stage := range t.Stages {
		before, length := stageBar(t, stage, max(width, 10))
		drawn := strings.Repeat(" ", before) + s.paint(strings.Repeat(barFull, length), stageColours[stage.Name]...)
		rate := ""
		if rated {
			rate = rateText(stage.Rate)
		}
		drawn = text.Pad(drawn, max(width, 10), ' ')
		_, _ = fmt.Fprintf(a.Out, "  %-*s%s%s%s\n", stageName, stage.Name, drawn, secondsText(stage.Seconds), rate)
		if stage.Received != nil {
			indent := strings.Repeat(" ", stageName+2)
			_, _ = fmt.Fprintln(a.Out, s.hang(indent+receivedText(stage.Received), stageName+2))
		}
	}
	_, _ = fmt.Fprintf(a.Out, "  %-*s%s%s\n",
		stageName, "total", strings.Repeat(" ", max(width, 10)), secondsText(t.Total))
}

func secondsText(seconds float64) string { return fmt.Sprintf("%*.1f s", stageTime-2, seconds) }

// rateText is the rate of a stage; empty if unknown.
func rateText(rate int64) string {
	if rate <= 0 {
		return ""
	}
	return fmt.Sprintf("%*.0f MB/s", stageRate-5, float64(rate)/1e6)
}

// stageBar places a stage on the width cells of the whole run. A stage of any duration has at least one cell.
func stageBar(t api.Timeline, stage api.Stage, width int) (before, length int) {
	if t.Total <= 0 {
		return 0, 0
	}
	scale := float64(width) / t.Total
	before = min(max(int(stage.Begin.Sub(t.Begin).Seconds()*scale+0.5), 0), width-1)
	length = int(stage.Seconds*scale + 0.5)
	if stage.Seconds > 0 {
		length = max(length, 1)
	}
	return before, min(length, width-before)
}
