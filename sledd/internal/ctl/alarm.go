// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
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

// newest returns the time at which the newest alarm was counted.
func newest(alarms []api.Alarm) time.Time {
	return slices.MaxFunc(alarms, func(a, b api.Alarm) int { return a.Last.Compare(b.Last) }).Last
}

// acknowledged prints the alarms that were acknowledged, and how many were raised meanwhile.
func (a *app) acknowledged(before, after api.Admission) {
	for _, alarm := range before.Alarms {
		a.AlarmLine(wording.ClaimedName(before), alarm)
	}
	a.Say(a.Out, "%s: acknowledged", wording.ClaimedName(before))
	if n := len(after.Alarms); n > 0 {
		a.Say(a.Err, "%s: alarms raised meanwhile: %d; to see them: sledctl status %[1]s", wording.ClaimedName(after), n)
	}
}
