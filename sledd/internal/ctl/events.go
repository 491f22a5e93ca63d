// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) eventsCommand() *cobra.Command {
	follow, limit := false, 0
	command := &cobra.Command{
		Use: "events NODE", Short: "Print the events of a node, oldest first",
		Long: `Prints the events of a node with time, kind, resulting phase and details. With
-f -o json, each event is one JSON object on a line.`,
		Example: "  sledctl events n1 --limit 20\n  sledctl events n1 -f -o json",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			events, err := client.Events(cmd.Context(), args[0], limit)
			if err != nil {
				return err
			}
			if !follow {
				return a.show(events, func() {
					for _, event := range events {
						_, _ = fmt.Fprintln(a.Out, a.eventLine(event))
					}
				})
			}
			return a.followEvents(cmd, client, args[0], events)
		},
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "print new events as they happen, until interrupted")
	command.Flags().IntVar(&limit, "limit", 0, "print at most this many of the newest; default: all that are stored")
	return command
}

func (a *app) followEvents(cmd *cobra.Command, client *api.Client, node string, events []api.Event) error {
	if a.output == "yaml" {
		return usagef("-f prints lines: it excludes -o yaml")
	}
	shown := &shownEvents{app: a, newest: -1}
	if err := shown.list(events); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	stream := api.Follow{Node: node, After: max(shown.newest, 0),
		Lost: func(err error) {
			_, _ = fmt.Fprintf(a.Err, "sledctl: events: connection lost, reconnecting: %v\n", err)
		},
		Missed: func() {
			missed, err := client.Events(ctx, node, 0)
			if err = errors.Join(err, shown.list(missed)); err != nil {
				cancel(err)
			}
		}}
	for event, err := range client.Stream(ctx, stream) {
		if err == nil {
			err = shown.one(event)
		}
		if err != nil {
			return err
		}
	}
	if cmd.Context().Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

// shownEvents prints each event once, though a list and the stream may both hold it.
type shownEvents struct {
	*app
	newest int64 // ID of the newest that was printed
	listed int64 // ID of the newest of the last list: the stream may hold it again
}

// list prints the events of a list that are newer than those before. Events that happened at once have one ID and come
// in one list.
func (s *shownEvents) list(events []api.Event) error {
	known := s.newest
	for _, event := range events {
		if event.ID <= known {
			continue
		}
		if err := s.print(event); err != nil {
			return err
		}
	}
	s.listed = s.newest
	return nil
}

// one prints an event of the stream.
func (s *shownEvents) one(event api.Event) error {
	if event.ID <= s.listed {
		return nil
	}
	return s.print(event)
}

func (s *shownEvents) print(event api.Event) error {
	s.newest = event.ID
	if s.output == "json" {
		return json.NewEncoder(s.Out).Encode(event)
	}
	_, err := fmt.Fprintln(s.Out, s.eventLine(event))
	return err
}

// eventLine is one event for people: time, kind, resulting phase and details.
func (a *app) eventLine(e api.Event) string {
	what := e.Kind
	if e.Verb != "" {
		what += " " + e.Verb
	}
	var words []string
	if e.Generation > 0 {
		words = append(words, fmt.Sprintf("generation %d", e.Generation))
	}
	switch {
	case e.Step > 0 && e.Steps > 0:
		words = append(words, fmt.Sprintf("step %d/%d", e.Step, e.Steps))
	case e.Step > 0:
		words = append(words, fmt.Sprintf("step %d", e.Step))
	case e.Steps > 0:
		words = append(words, fmt.Sprintf("%d steps", e.Steps))
	}
	if e.Kind == "end" && e.Code != 0 {
		words = append(words, codeName(e.Code))
	}
	if e.Seconds > 0 {
		words = append(words, fmt.Sprintf("%.1f s", e.Seconds))
	}
	if e.Bytes > 0 {
		words = append(words, bytesText(e.Bytes))
	}
	if !e.Detail.IsZero() {
		words = append(words, e.Detail.String())
	}
	const layout = "2006-01-02 15:04:05.000"
	phase := "-"
	if e.Phase != "" {
		phase = a.Screen.phaseText(e.Phase)
	}
	at := e.Time.Local().Format(layout)
	line := fmt.Sprintf("%s  %-16s %s  %s", at, what, fit(phase, phaseCell), strings.Join(words, ", "))
	return a.Screen.hang(strings.TrimRight(line, " "), len(layout)+gap)
}

func (a *app) logCommand() *cobra.Command {
	return &cobra.Command{
		Use: "log NODE", Short: "Print the log of the last failed step and the kernel log",
		Example: "  sledctl log n1",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			log, err := client.Log(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(log, func() {
				_, _ = fmt.Fprintln(a.Out, strings.TrimRight(log.String(), "\n"))
			})
		},
	}
}
