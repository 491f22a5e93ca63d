// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// gate holds back reads of a store until it is opened, and counts how many there were at the same time.
type gate struct {
	mu      sync.Mutex
	inside  int
	most    int
	arrived chan struct{} // one for each that came in
	open    chan struct{}
}

func (g *gate) pass(call string) error {
	if call != "read" {
		return nil
	}
	g.mu.Lock()
	g.inside++
	g.most = max(g.most, g.inside)
	g.mu.Unlock()
	g.arrived <- struct{}{}
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	return nil
}

func TestFirstPollsWaitInTheQueueToo(t *testing.T) {
	const polls, slots = 200, 64
	g := &gate{arrived: make(chan struct{}, 10*polls), open: make(chan struct{})}
	memory := storetest.Hooked(g.pass)
	hub := events.New(memory, slog.New(slog.DiscardHandler))
	in := intake.New(intake.Options{DB: &nodetx.DB{Store: memory}, Hub: hub, TokenLife: time.Hour})
	var running sync.WaitGroup
	for i := range polls {
		running.Go(func() {
			_, err := in.Poll(t.Context(), fmt.Sprintf("52:54:00:77:00:%02x", i), "", intake.None, 0)
			if !refusal.Is(err, refusal.Unauthorized) {
				t.Errorf("poll without a token: %v", err)
			}
		})
	}
	for range slots {
		<-g.arrived
	}
	patience.Until(t, "all have registered", func() bool { return hub.Waiting() == polls }) // before they queue
	close(g.open)
	running.Wait()
	if g.most > slots {
		t.Errorf("%d polls were at the store at the same time, want at most %d", g.most, slots)
	}
}
