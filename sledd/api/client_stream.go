// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	streamIdle    = 90 * time.Second // sledd sends comments far more often; longer silence means a dead connection
	streamPauseLo = 500 * time.Millisecond
	streamPauseHi = 10 * time.Second
	maxEventLine  = 1 << 20
)

// Follow selects what Stream yields.
type Follow struct {
	Node   string      // MAC or name; empty: the whole fleet
	After  int64       // ID of the last known event; 0: from now on
	Opened func()      // called when a connection is open: no event is missed from then on; may be nil
	Lost   func(error) // called when the connection broke, before the next attempt; may be nil
	// Missed is called if sledd no longer has the events since the last one, when a connection is open that starts now:
	// what those events changed must be listed again. May be nil.
	Missed func()

	gone bool // Missed is due
}

// Stream yields events as they happen. It ends without an error when the context ends. After a broken connection it
// resumes behind the last event, or if sledd no longer has it (410), from now on. Any other refusal (4xx) is yielded
// and ends the stream.
func (c *Client) Stream(ctx context.Context, follow Follow) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		pause := streamPauseLo
		for ctx.Err() == nil {
			before := follow.After
			more, err := c.streamOnce(ctx, &follow, yield)
			if !more || ctx.Err() != nil {
				return
			}
			if StatusOf(err) == http.StatusGone && follow.After > 0 {
				follow.After, follow.gone = 0, true
				continue
			}
			if final(err) {
				yield(Event{}, err)
				return
			}
			if follow.Lost != nil {
				follow.Lost(err)
			}
			if follow.After > before {
				pause = streamPauseLo
			}
			if !wait(ctx, pause) {
				return
			}
			pause = min(2*pause, streamPauseHi)
		}
	}
}

// final reports whether another attempt is of no use.
func final(err error) bool {
	status := StatusOf(err)
	return status != 0 && status < http.StatusInternalServerError && status != http.StatusTooManyRequests
}

// wait reports false when the context ended first.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// streamOnce reads one connection to its end. more is false if the reader stopped.
func (c *Client) streamOnce(ctx context.Context, follow *Follow, yield func(Event, error) bool) (more bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := errors.New("the event stream fell silent")
	alarm := time.AfterFunc(c.timeout, func() { cancel(silence) })
	defer alarm.Stop()
	response, err := c.send(ctx, streamRequest(follow))
	if err != nil {
		return true, err
	}
	defer response.Body.Close()
	if follow.Opened != nil {
		follow.Opened()
	}
	if follow.gone && follow.Missed != nil {
		follow.Missed()
	}
	follow.gone = false
	body := &touched{from: response.Body, touch: func() { alarm.Reset(streamIdle) }}
	err = readEvents(body, func(event Event, id int64) bool {
		more = yield(event, nil)
		follow.After = max(follow.After, id)
		return more
	})
	if errors.Is(err, errStopped) {
		return false, nil
	}
	return true, c.unreachable(ctx, err)
}

func streamRequest(follow *Follow) request {
	header := http.Header{"Accept": {"text/event-stream"}}
	r := request{method: http.MethodGet, path: "/v1/events", query: url.Values{}, header: header}
	if follow.Node != "" {
		r.query.Set("node", follow.Node)
	}
	if follow.After > 0 {
		r.header.Set("Last-Event-ID", strconv.FormatInt(follow.After, 10))
	}
	return r
}

// touched calls touch before every read.
type touched struct {
	from  io.Reader
	touch func()
}

func (t *touched) Read(p []byte) (int, error) {
	t.touch()
	return t.from.Read(p)
}

var errStopped = errors.New("stopped by the reader")

// readEvents parses server-sent events until r ends or take returns false. id is where to resume after the event; 0 if
// more events of the same time follow.
func readEvents(r io.Reader, take func(event Event, id int64) bool) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEventLine)
	var message sseMessage
	for lines.Scan() {
		if !message.add(strings.TrimSuffix(lines.Text(), "\r")) {
			continue
		}
		var event Event
		if err := json.Unmarshal([]byte(strings.Join(message.data, "\n")), &event); err != nil {
			return fmt.Errorf("event stream: %w", err)
		}
		if !take(event, message.id) {
			return errStopped
		}
		message = sseMessage{}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("event stream: %w", err)
	}
	return io.ErrUnexpectedEOF // only a server that stops ends the stream
}

// sseMessage gathers the lines of one server-sent event.
type sseMessage struct {
	id   int64
	data []string
}

// add takes a line and reports whether it completed an event. Comments and unknown fields are ignored.
func (m *sseMessage) add(line string) bool {
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "data":
		m.data = append(m.data, value)
	case "id":
		if id, err := strconv.ParseInt(value, 10, 64); err == nil {
			m.id = id
		}
	}
	return line == "" && len(m.data) > 0
}
