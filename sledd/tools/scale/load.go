// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/double"
)

// tally counts what nodes were answered. It is the history of a fleet.
type tally struct {
	mu      sync.Mutex
	refused map[string]int // by node
	begun   int
	ends    map[string]int // by verb
}

func newTally() *tally { return &tally{refused: map[string]int{}, ends: map[string]int{}} }

// Write takes one line.
func (t *tally) Write(line []byte) (int, error) {
	var call double.Call
	if err := json.Unmarshal(line, &call); err != nil {
		return 0, fmt.Errorf("history: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if call.Status == http.StatusServiceUnavailable {
		t.refused[call.Node]++
	}
	if call.Status != http.StatusNoContent {
		return len(line), nil
	}
	for sent := range strings.Lines(call.Sent) {
		word, rest, _ := strings.Cut(sent, " ")
		switch word {
		case "begin":
			t.begun++
		case "end":
			_, verb, _ := strings.Cut(rest, "verb=")
			verb, _, _ = strings.Cut(verb, " ")
			t.ends[verb]++
		}
	}
	return len(line), nil
}

// refusals returns how many requests were refused, and how many nodes more than once.
func (t *tally) refusals() (requests, again int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, count := range t.refused {
		if requests += count; count > 1 {
			again++
		}
	}
	return requests, again
}

// ended is how many steps of a verb have ended.
func (t *tally) ended(verb string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ends[verb]
}

// steps is how many starts and ends were acknowledged.
func (t *tally) steps() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.begun
	for _, count := range t.ends {
		all += count
	}
	return all
}

// fleet is machines that are on.
type fleet struct {
	tally *tally
	stop  func()
	ended chan error
}

// powerOn powers machines on within a time.
func (s *site) powerOn(ctx context.Context, macs []string, within time.Duration, settings double.Settings) *fleet {
	ctx, stop := context.WithCancel(ctx)
	f := &fleet{tally: newTally(), stop: stop, ended: make(chan error, 1)}
	settings.Server = "http://" + s.address
	machines := &double.Fleet{Dir: s.file("machines"), Spread: within, History: f.tally, Settings: settings}
	go func() { f.ended <- machines.Run(ctx, macs) }()
	return f
}

// operational waits until all are.
func (f *fleet) operational(ctx context.Context) error {
	select {
	case err := <-f.ended:
		f.ended <- nil
		return err
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // interrupted
	case <-time.After(patience):
		return fmt.Errorf("not all are operational after %s", patience)
	}
}

// off powers them off.
func (f *fleet) off() {
	f.stop()
	if err := <-f.ended; err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "scale:", err)
	}
}

// times is how long requests took, in seconds.
type times []float64

func (t times) p99() float64 {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[len(sorted)*99/100]
}

// operators bind and list.
type operators struct {
	binds, lists times
	failed       int
	end          func() // must be called before the figures are read
}

// operate has one operator bind spare nodes, and another one list all nodes, until the end.
func (s *site) operate(ctx context.Context) *operators {
	ctx, stop := context.WithCancel(ctx)
	o := &operators{}
	var running sync.WaitGroup
	var failed [2]int
	running.Go(func() {
		o.binds, failed[0] = repeat(ctx, 200*time.Millisecond, func() error {
			return s.bindAll(ctx, []string{fmt.Sprintf("%c%d", spares, s.spares.Add(1)%spareCount)})
		})
	})
	running.Go(func() {
		o.lists, failed[1] = repeat(ctx, 5*time.Second, func() error {
			for _, err := range s.Nodes(ctx, api.Filter{}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	o.end = func() {
		stop()
		running.Wait()
		o.failed = failed[0] + failed[1]
	}
	return o
}

// repeat makes a request again and again, after pauses, and returns how long each took and how many failed.
func repeat(ctx context.Context, pause time.Duration, request func() error) (took times, failed int) {
	for {
		begin := time.Now()
		err := request()
		if ctx.Err() != nil {
			return took, failed
		}
		took = append(took, time.Since(begin).Seconds())
		if err != nil {
			failed++
		}
		select {
		case <-ctx.Done():
			return took, failed
		case <-time.After(pause):
		}
	}
}
