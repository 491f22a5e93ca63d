// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// heartbeat is the time between two checks of the token of a stream. Comments keep proxies from closing a quiet one.
const heartbeat = 10 * time.Second

// lastTime is for the end of a stream to be written.
const lastTime = time.Second

// stream writes server-sent events.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
	beat    chan struct{}

	mu    sync.Mutex
	ended bool
}

var errEnded = errors.New("stream: its operator may no longer read")

// watch ends the stream once its token is refused, also while a client that does not read makes a write wait. A store
// that does not answer refuses nothing, and has no events.
func (s *stream) watch(ctx context.Context, pause time.Duration, authorize func() error, end func()) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		err := authorize()
		if _, refused := errors.AsType[*refusal.Error](err); refused {
			s.mu.Lock()
			s.ended = true
			_ = s.control.SetWriteDeadline(time.Now().Add(lastTime)) // a connection without deadlines ends with the context
			s.mu.Unlock()
			end()
			return
		}
		select {
		case s.beat <- struct{}{}:
		default: // it is writing
		}
	}
}

// run writes what was missed and what happens, until the context ends.
func (s *stream) run(ctx context.Context, missed []events.Record, listener *events.Listener) {
	s.writer.Header().Set("Content-Type", "text/event-stream")
	s.writer.Header().Set("Cache-Control", "no-store")
	s.writer.Header().Set("X-Accel-Buffering", "no")
	if s.send([]byte(": sledd\n\n")) != nil || s.events(missed) != nil {
		return
	}
	for {
		var err error
		select {
		case batch, open := <-listener.C:
			if !open {
				return
			}
			err = s.events(batch)
		case <-s.beat:
			err = s.send([]byte(": still here\n\n"))
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// piece is the number of bytes that are put together before they are written.
const piece = 256 << 10

// events writes events in order. Only the last event of a revision carries the id, so that resuming loses none.
func (s *stream) events(list []events.Record) error {
	var text []byte
	for i, event := range list {
		if i == len(list)-1 || list[i+1].ID != event.ID {
			text = fmt.Appendf(text, "id: %d\n", event.ID)
		}
		text = append(text, "data: "...)
		text = append(text, event.Data...)
		text = append(text, "\n\n"...)
		if len(text) < piece {
			continue
		}
		if err := s.send(text); err != nil {
			return err
		}
		text = text[:0]
	}
	return s.send(text)
}

func (s *stream) send(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := s.extend(); err != nil {
		return err
	}
	if _, err := s.writer.Write(text); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return s.control.Flush() //nolint:wrapcheck // the client is gone
}

// extend sets the deadline of the next write, unless the stream has ended.
func (s *stream) extend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errEnded
	}
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}
