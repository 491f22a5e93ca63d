// SPDX-License-Identifier: Apache-2.0

package double

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fleet runs machines of the same settings in one process, until all are operational.
type Fleet struct {
	Dir      string // of their disks
	Settings Settings
	Spread   time.Duration // within which they are powered on
	Loss     float64       // part of the responses that are lost
	Seed     uint64        // of what is lost
	History  io.Writer
}

// Call is one request of a machine, as a line of a history; or, at its end, what sledd knows of the machine.
type Call struct {
	Node   string          `json:"node"` // MAC
	Path   string          `json:"path"`
	Sent   string          `json:"sent,omitempty"`
	Status int             `json:"status"` // 0: no response
	Got    string          `json:"got,omitempty"`
	Lost   bool            `json:"lost,omitempty"` // the machine did not get the response
	Events json.RawMessage `json:"events,omitempty"`
	Phase  string          `json:"phase,omitempty"`
}

// errLost stands for a response that is lost.
var errLost = errors.New("the response is lost")

// gotMost is how much of a response a history has: the numbers of a plan.
const gotMost = 80

// Run powers the machines on. It returns when all are operational, or the error of the first that ends.
func (f *Fleet) Run(ctx context.Context, macs []string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	shared, err := f.Settings.transport()
	if err != nil {
		return err
	}
	shared.MaxIdleConnsPerHost = len(macs)
	defer shared.CloseIdleConnections()
	history := &history{to: f.History}
	var running, waiting sync.WaitGroup
	waiting.Add(len(macs))
	for i, mac := range macs {
		chance := rand.New(rand.NewPCG(f.Seed, uint64(i))) //nolint:gosec // repeatable
		machine := &Machine{Dir: f.Dir, MAC: mac, Settings: f.Settings, Confirmed: sync.OnceFunc(waiting.Done),
			Transport: &recorder{shared: shared, node: mac, history: history, loses: func() bool {
				return chance.Float64() < f.Loss
			}}}
		running.Go(func() {
			if pause(ctx, f.Spread*time.Duration(i)/time.Duration(len(macs))) != nil {
				return
			}
			if err := machine.Run(ctx, io.Discard); err != nil && ctx.Err() == nil {
				stop(fmt.Errorf("machine %s: %w", mac, err))
			}
		})
	}
	done := make(chan struct{})
	go func() { waiting.Wait(); close(done) }()
	select {
	case <-done:
		stop(nil)
	case <-ctx.Done():
	}
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return history.err
}

// history writes lines of many machines.
type history struct {
	mu  sync.Mutex
	to  io.Writer
	err error // the first
}

func (h *history) add(call Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := json.NewEncoder(h.to).Encode(call); h.err == nil && err != nil {
		h.err = fmt.Errorf("history: %w", err)
	}
}

// recorder sends the requests of a machine, notes them, and loses responses.
type recorder struct {
	shared  http.RoundTripper
	node    string
	history *history
	loses   func() bool
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	call := Call{Node: r.node, Path: request.URL.Path}
	if body, err := request.GetBody(); err == nil && strings.HasSuffix(call.Path, "/report") {
		text, _ := io.ReadAll(body) // from memory
		call.Sent = string(text)
	}
	response, err := r.shared.RoundTrip(request)
	if err == nil {
		var text []byte
		text, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		response.Body, call.Status = io.NopCloser(bytes.NewReader(text)), response.StatusCode
		if strings.HasSuffix(call.Path, "/plan") {
			call.Got = string(text[:min(len(text), gotMost)])
		}
		call.Lost = r.loses()
	}
	r.history.add(call)
	if call.Lost {
		return nil, errLost
	}
	return response, err //nolint:wrapcheck // by the client
}

// retryAfter is the pause that a response requests; at least the usual one.
func retryAfter(header http.Header) time.Duration {
	pause, err := time.ParseDuration(header.Get("Retry-After") + "s")
	if err != nil {
		return retryTime
	}
	return max(pause, retryTime)
}
