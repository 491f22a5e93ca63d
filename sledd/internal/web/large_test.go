// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

const (
	largeNodes  = 10_000
	largeRate   = 400 // changes per second
	largeBeats  = 20  // seconds
	largeViews  = 20  // streams
	largeLooks  = 20  // at each page
	largeFilter = "/ui/nodes?phase=operational&sort=-since&q=rack-0"
)

// TestLargeFleet measures a fleet of 10,000 nodes at 400 changes per second: SLED_LARGE=1 go test -v -run LargeFleet.
// With SLED_LARGE=serve, it waits for browsers.
func TestLargeFleet(t *testing.T) {
	if os.Getenv("SLED_LARGE") == "" {
		t.Skip("takes a minute: SLED_LARGE=1")
	}
	b := open(t, largeNodes, sleddtest.Options{})
	b.rolled()
	go b.change(t.Context())
	for _, path := range []string{largeFilter, "/ui/nodes", "/ui/", "/ui/rollouts/reimage-1"} {
		b.ask("GET", path, nil) // the first one reads the store
		best, size, before := time.Hour, 0, usedTime()
		for range largeLooks {
			begin := time.Now()
			a := b.ask("GET", path, nil)
			if a.Status != http.StatusOK {
				t.Fatal(a.Status, a.Body)
			}
			best, size = min(best, time.Since(begin)), len(a.Body)
		}
		t.Logf("%s: %s, %s of CPU time, %d kB", path, best, (usedTime()-before)/largeLooks, size>>10)
	}
	idle := cores(5 * time.Second)
	t.Logf("%d changes per second: %.2f cores", largeRate, idle)
	if os.Getenv("SLED_LARGE") == "serve" {
		fmt.Println(b.URL, sleddtest.AdminToken)
		time.Sleep(10 * time.Minute)
	}
	for _, paths := range [][]string{{"/ui/"}, {"/ui/nodes"},
		{"/ui/", "/ui/nodes", "/ui/?by=role", "/ui/nodes?phase=failed"}} {
		received, messages := atomic.Int64{}, atomic.Int64{}
		ctx, cancel := context.WithCancel(t.Context())
		for i := range largeViews {
			go b.drain(ctx, paths[i%len(paths)], &received, &messages)
		}
		time.Sleep(3 * time.Second) // the whole pages
		received.Store(0)
		messages.Store(0)
		used := cores(largeBeats * time.Second)
		t.Logf("%d streams of %v: %.2f cores more, %.1f kB/s each, %.2f messages per second", largeViews, paths, used-idle,
			float64(received.Load())/1000/largeBeats/largeViews, float64(messages.Load())/largeBeats/largeViews)
		cancel()
	}
}

func cores(d time.Duration) float64 {
	begin, before := time.Now(), usedTime()
	time.Sleep(d)
	return float64(usedTime()-before) / float64(time.Since(begin))
}

func usedTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (b *browser) drain(ctx context.Context, path string, received, messages *atomic.Int64) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+path, nil)
	if err != nil {
		b.Error(err)
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Cookie", b.cookie)
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		b.Error(err)
		return
	}
	defer answer.Body.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := answer.Body.Read(buffer)
		received.Add(int64(n))
		messages.Add(int64(bytes.Count(buffer[:n], []byte("data: "))))
		if err == io.EOF {
			b.Error("the stream ended")
		}
		if err != nil {
			return
		}
	}
}

// change makes progress on the nodes that write, and now and then another phase.
func (b *browser) change(ctx context.Context) {
	ticker := time.NewTicker(time.Second / 20)
	defer ticker.Stop()
	for step := 0; ; step++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var t store.Transaction
		for k := range largeRate / 20 {
			i := (step*largeRate/20 + k) * 7 % largeNodes
			now := time.Now()
			status := api.Status{Phase: api.Writing, Generation: 3, Step: 2, Steps: 4, Verb: "write", Since: now, Seen: now,
				Progress: &api.Progress{Bytes: int64(step%100) << 30, Total: 100 << 30, Rate: 1 << 30}}
			if step%3 == 0 {
				status.Phase, status.Progress = api.Operational, nil
			}
			t.Put(nodetx.KeyOf(nodetx.Status, sleddtest.MAC(i)), nodetx.Encode(status))
		}
		if _, err := b.Fleet.Store.Commit(ctx, t); err != nil && ctx.Err() == nil {
			b.Error(err)
		}
	}
}
