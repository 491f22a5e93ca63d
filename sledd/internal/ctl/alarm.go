// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) ackCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ack NODE", Short: "Acknowledge the alarms of a node",
		Long: `Prints the alarms of a node and acknowledges them: they are no longer shown. An
alarm that is raised meanwhile stays. sledctl status lists all alarms.`,
		Example: "  sledctl ack n1", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			before, err := client.Admission(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if len(before.Alarms) == 0 {
				return a.done(before, "no alarms")
			}
			after, err := client.Ack(cmd.Context(), args[0], newest(before.Alarms))
			if err != nil {
				return err
			}
			return a.show(after, func() { a.acknowledged(before, after) })
		},
	}
}

// newest is when the newest alarm was counted.
func newest(alarms []api.Alarm) time.Time {
	return slices.MaxFunc(alarms, func(a, b api.Alarm) int { return a.Last.Compare(b.Last) }).Last
}

// acknowledged prints the alarms that were acknowledged, and how many were raised meanwhile.
func (a *app) acknowledged(before, after api.Admission) {
	for _, alarm := range before.Alarms {
		a.alarmLine(nameOf(before), alarm)
	}
	a.say(a.Out, "%s: acknowledged", nameOf(before))
	if n := len(after.Alarms); n > 0 {
		a.say(a.Err, "%s: alarms raised meanwhile: %d; to see them: sledctl status %[1]s", nameOf(after), n)
	}
}

// alarmLine prints an alarm on a line.
func (a *app) alarmLine(node string, alarm api.Alarm) {
	line := fmt.Sprintf("%s: %s: %s", node, a.Screen.paint("alarm "+alarm.Kind, text.FgRed), a.alarmText(alarm))
	_, _ = fmt.Fprintln(a.Out, a.Screen.hang(line, 2))
}

// alarmText is an alarm without its kind.
func (a *app) alarmText(alarm api.Alarm) string {
	times := "once"
	if alarm.Count > 1 {
		times = fmt.Sprintf("%d times", alarm.Count)
	}
	return fmt.Sprintf("%s (%s, last %s ago)", alarm.Detail, times, age(a.Now(), alarm.Last))
}

// alarmKinds lists the kinds of the alarms of a node.
func alarmKinds(n api.Node) string {
	var kinds []string
	for _, alarm := range n.Alarms {
		if !slices.Contains(kinds, alarm.Kind) {
			kinds = append(kinds, alarm.Kind)
		}
	}
	return strings.Join(kinds, ",")
}

// admissionText is the admission of a node in a cell.
func (a *app) admissionText(n api.Node) string {
	switch n.AdmissionState {
	case "admitted":
		return "admitted " + n.AdmissionLevel
	case "contested":
		return a.Screen.paint(n.AdmissionState, text.FgRed)
	}
	return n.AdmissionState
}

// admissionRows are the details of the admission of a node.
func (a *app) admissionRows(n api.Node) [][2]string {
	rows := [][2]string{{"state", a.admissionText(n)}, {"waiting claims", strings.Join(n.WaitingClaims, " ")}}
	for _, alarm := range n.Alarms {
		rows = append(rows, [2]string{"alarm " + alarm.Kind, a.alarmText(alarm)})
	}
	return rows
}

// admissionHint prints what an operator can do about the admission of a node.
func (a *app) admissionHint(n api.Node) {
	hint := func(format string, values ...any) {
		_, _ = fmt.Fprintln(a.Err, a.Screen.hang(nodeName(n)+": "+fmt.Sprintf(format, values...), 2))
	}
	if len(n.WaitingClaims) > 0 {
		hint("a machine waits to be admitted; if its console shows the code: sledctl admit %s %s", nodeName(n),
			n.WaitingClaims[0])
	}
	if len(n.Alarms) > 0 {
		hint("to acknowledge its alarms: sledctl ack %s", nodeName(n))
	}
}
