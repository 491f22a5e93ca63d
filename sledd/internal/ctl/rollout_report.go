// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/page"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

func (a *app) rolloutReportCommand() *cobra.Command {
	asHTML, asJSON := "", ""
	command := &cobra.Command{
		Use: "report [NAME]", Short: "Report failures and durations of a rollout, by default the newest",
		Long: `Prints the failures with their reasons, then the median and worst duration of
each stage, of kexec and of reboots through the firmware, and of each entry
method. The HTML file is self-contained and has a chart of all nodes. The JSON
file has the figures of -o json.`,
		Example: "  sledctl rollout report\n  sledctl rollout report reimage-7 --html report.html --json report.json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completeRollouts,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			one, err := oneRollout(cmd.Context(), client, args)
			if err != nil {
				return err
			}
			if err := addLogs(cmd.Context(), client, one.Runs); err != nil {
				return err
			}
			summary := rollout.Summarise(one, a.Now())
			if summary.Alarms, err = alarmsOf(cmd.Context(), client, one.Runs); err != nil {
				return err
			}
			if err := a.writeReports(summary, asHTML, asJSON); err != nil {
				return err
			}
			return a.show(summary, func() { a.RolloutReport(one, summary) })
		},
	}
	command.Flags().StringVar(&asHTML, "html", "", "also write an HTML report to this file")
	command.Flags().StringVar(&asJSON, "json", "", "also write the figures to this file, as JSON")
	return command
}

// alarmsOf returns the alarms of the nodes of a rollout.
func alarmsOf(ctx context.Context, client *api.Client, runs []api.NodeRun) ([]rollout.Alarm, error) {
	nodes, err := api.Collect(client.Nodes(ctx, api.Filter{}))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, run := range runs {
		names[run.MAC] = run.Node
	}
	var alarms []rollout.Alarm
	for _, node := range nodes {
		for _, alarm := range node.Alarms {
			if name := names[node.MAC]; name != "" {
				alarms = append(alarms, rollout.Alarm{Node: name, Alarm: alarm})
			}
		}
	}
	return alarms, nil
}

// addLogs adds logs that arrived after the run of a failed node had ended: a node may send its log last.
func addLogs(ctx context.Context, client *api.Client, runs []api.NodeRun) error {
	for i, run := range runs {
		if run.State != api.RunFailed || !run.Log.IsZero() {
			continue
		}
		events, err := client.Events(ctx, run.MAC, 0)
		if err != nil && !api.IsNotFound(err) {
			return err
		}
		logged := func(e api.Event) bool {
			return e.Kind == "log" && e.Generation == run.Generation && e.Time.After(run.Begin)
		}
		if !slices.ContainsFunc(events, logged) {
			continue
		}
		log, err := client.Log(ctx, run.MAC)
		if err != nil && !api.IsNotFound(err) {
			return err
		}
		runs[i].Log = rollout.Tail(log)
	}
	return nil
}

func (a *app) writeReports(summary rollout.Summary, asHTML, asJSON string) error {
	var written bytes.Buffer
	if asJSON != "" {
		encoder := json.NewEncoder(&written)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(summary); err != nil {
			return err
		}
		if err := a.writeReport(asJSON, written.Bytes()); err != nil {
			return err
		}
	}
	if asHTML == "" {
		return nil
	}
	written.Reset()
	if err := page.Rollout(&written, summary); err != nil {
		return err
	}
	return a.writeReport(asHTML, written.Bytes())
}

// writeReport writes a file completely or not at all. It creates a missing folder.
func (a *app) writeReport(path string, content []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // reports are no secrets
		return err
	}
	file, err := os.CreateTemp(folder, "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // left if renaming fails
	_, err = file.Write(content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644) //nolint:gosec // no secret
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err == nil {
		a.Say(a.Err, "wrote %s", path)
	}
	return err
}
