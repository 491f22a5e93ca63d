// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) eventsCommand() *cobra.Command {
	f := &feed{app: a}
	follow, since := false, ""
	command := &cobra.Command{
		Use: "events [NODE]", Short: "Print what happened, in the fleet or to a node, oldest first",
		Long: `Prints events with time, kind, resulting phase and details; those that an
operator caused with operator, program and address. Without NODE, it prints the
newest 100 of the fleet. With -f -o json, each event is one JSON object on a
line.`,
		Example: `  sledctl events --kind bind --kind unbind --since 24h
  sledctl events -f --by alice
  sledctl events n1 --limit 20
  sledctl events n1 -f -o json`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeFirstNode,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.filter.Since, err = sinceTime(a.Now(), since); err != nil {
				return err
			}
			if f.client, err = a.client(); err != nil {
				return err
			}
			if len(args) > 0 {
				f.node = args[0]
			}
			events, err := f.list(cmd.Context())
			if err != nil {
				return err
			}
			if follow {
				return f.follow(cmd, events)
			}
			return a.show(events, func() {
				for _, event := range events {
					_, _ = fmt.Fprintln(a.Out, a.EventLine(event, f.node == ""))
				}
			})
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "print new events as they happen, until interrupted")
	flags.StringArrayVar(&f.filter.Kinds, "kind", nil, "only events of this kind, such as bind (repeatable)")
	flags.StringVar(&f.filter.By, "by", "", "only what this operator requested")
	flags.StringVar(&since, "since", "", "only events since then: a duration such as 2h, or 2026-11-24T18:00:00Z")
	flags.IntVar(&f.filter.Limit, "limit", 0,
		"print at most this many of the newest; default: 100 of the fleet, all of a node that are stored")
	return command
}

// sinceTime reads a time, or a duration before now; the zero time for no text.
func sinceTime(now time.Time, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if before, err := time.ParseDuration(text); err == nil && before >= 0 {
		return now.Add(-before), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, usagef("--since %q: expected a duration such as 2h, or a time such as 2026-11-24T18:00:00Z", text)
}

// feed is the events of a node, or of the fleet.
type feed struct {
	*app
	client *api.Client
	node   string // empty: the fleet
	filter api.EventFilter
}

// list returns the newest events that the filter selects.
func (f *feed) list(ctx context.Context) ([]api.Event, error) {
	if f.node == "" {
		return f.client.NewestEvents(ctx, f.filter)
	}
	all, err := f.client.Events(ctx, f.node, 0)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e api.Event) bool { return !f.filter.Takes(e) })
	if most := f.filter.Limit; most > 0 && len(all) > most {
		all = all[len(all)-most:]
	}
	return all, nil
}

func (f *feed) follow(cmd *cobra.Command, events []api.Event) error {
	if f.output == "yaml" {
		return usagef("-f prints lines: it excludes -o yaml")
	}
	shown := &shownEvents{app: f.app, fleet: f.node == "", newest: -1}
	if err := shown.list(events); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	missed := func() {
		missed, err := f.list(ctx)
		if err = errors.Join(err, shown.list(missed)); err != nil {
			cancel(err)
		}
	}
	stream := api.Follow{Node: f.node, After: max(shown.newest, 0), Missed: missed,
		Opened: func() {
			if shown.newest < 0 { // it starts now, and something may have happened since the list was read
				missed()
			}
		},
		Lost: func(err error) {
			_, _ = fmt.Fprintf(f.Err, "sledctl: events: connection lost, reconnecting: %v\n", err)
		}}
	for event, err := range f.client.Stream(ctx, stream) {
		if err == nil && f.filter.Takes(event) {
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
	fleet  bool  // of several nodes
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
	_, err := fmt.Fprintln(s.Out, s.EventLine(event, s.fleet))
	return err
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
