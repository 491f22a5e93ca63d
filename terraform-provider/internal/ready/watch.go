// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	// gatherTime is how long events are gathered before the nodes are read.
	gatherTime = 500 * time.Millisecond
	// idleShare is how much longer than a reading the pause after it is, so that a large fleet is not read all the
	// time.
	idleShare = 10
	// longestPause between a reading and the next one.
	longestPause = 10 * time.Second
	// readTime bounds one reading.
	readTime = 30 * time.Second
	// fewNodes are read one by one, more with the list of all.
	fewNodes = 8
)

var errHopeless = errors.New("too many failed")

// watch follows one event stream and reads the nodes that had events.
type watch struct {
	goal
	client *api.Client
	notes  *notes
	found  map[string]*api.Node // by MAC or name as in the goal; as last read
	tally  tally
}

// wait returns nil once the goal is met, errHopeless when it cannot be met any more, the context's error when that
// ended, and sledd's error when sledd refuses. An outage of sledd or its store does not end it. The tally is as last
// read.
func wait(ctx context.Context, client *api.Client, wanted goal) (tally, error) {
	w := &watch{goal: wanted, client: client, notes: newNotes(), found: map[string]*api.Node{}, tally: wanted.unread()}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { w.follow(ctx) })
	err := w.run(ctx)
	cancel()
	following.Wait()
	return w.tally, err
}

// follow notes events. Each time the stream starts, or fails to, everything is read: earlier events were not seen.
func (w *watch) follow(ctx context.Context) {
	stream := api.Follow{
		Opened: func() { w.notes.add(stale{all: true}) },
		Lost: func(err error) {
			tflog.Warn(ctx, "the event stream of sledd broke, trying again", map[string]any{"error": fmt.Sprint(err)})
			w.notes.add(stale{all: true})
		},
	}
	for event, err := range w.client.Stream(ctx, stream) {
		// A declaration may give a name to a node that was waited for under that name.
		w.notes.add(stale{all: event.Kind == "declare", macs: map[string]bool{event.MAC: true}, err: err})
	}
}

func (w *watch) run(ctx context.Context) error {
	pause := time.Duration(0)
	for {
		again, err := w.notes.take(ctx, pause)
		if err != nil {
			return err
		}
		if again.err != nil {
			return fmt.Errorf("follow events: %w", again.err)
		}
		before, begin := pause, time.Now()
		err = w.read(ctx, again)
		pause = min(max(gatherTime, idleShare*time.Since(begin)), longestPause)
		switch {
		case ctx.Err() != nil:
			return ctx.Err() //nolint:wrapcheck // states why it ended
		case api.IsUnreachable(err):
			tflog.Warn(ctx, "nodes cannot be read, trying again", map[string]any{"error": err.Error()})
			w.notes.add(again)
			pause = min(2*max(gatherTime, before), longestPause)
			continue
		case err != nil:
			return err
		}
		w.judge(ctx)
		if w.met(w.tally) {
			return nil
		}
		if w.hopeless(w.tally) {
			return errHopeless
		}
	}
}

func (w *watch) judge(ctx context.Context) {
	before := w.tally.counts()
	w.tally = w.count(w.found)
	if now := w.tally.counts(); now != before {
		tflog.Info(ctx, "waiting for nodes", map[string]any{"nodes": len(w.nodes), "need": w.need, "phases": now})
	}
}

// read reads the nodes of the goal that are stale.
func (w *watch) read(ctx context.Context, again stale) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	names := w.named(again)
	if len(names) > fewNodes {
		return w.readAll(ctx)
	}
	for _, name := range names {
		node, err := w.client.Node(ctx, canonical(name))
		switch {
		case api.IsNotFound(err):
			delete(w.found, name)
		case err != nil:
			return fmt.Errorf("read node %s: %w", name, err)
		default:
			w.found[name] = &node
		}
	}
	return nil
}

// named returns the names of the goal's stale nodes.
func (w *watch) named(again stale) []string {
	var names []string
	for name := range w.nodes {
		node := w.found[name]
		if again.all || node != nil && again.macs[node.MAC] || again.macs[canonical(name)] {
			names = append(names, name)
		}
	}
	return names
}

func (w *watch) readAll(ctx context.Context) error {
	known := map[string]*api.Node{}
	for node, err := range w.client.Nodes(ctx, api.Filter{}) {
		if err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
		known[node.MAC] = &node
		if node.Name != "" {
			known[node.Name] = &node
		}
	}
	clear(w.found)
	for name := range w.nodes {
		if node := known[canonical(name)]; node != nil {
			w.found[name] = node
		}
	}
	return nil
}

// canonical is a MAC as sledd writes it; a name stays as it is.
func canonical(name string) string {
	if address, err := api.ParseMAC(name); err == nil {
		return address
	}
	return name
}
