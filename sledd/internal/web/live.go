// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// beat is the time between two messages of a stream.
	beat = time.Second
	// ageStep is that of ages in messages: otherwise each second would change each row.
	ageStep = 10 * time.Second
	// sendTime is for one message to be sent.
	sendTime = 10 * time.Second
	// ahead is how many messages a browser may be late with.
	ahead = 8
	// eventStream is the media type that an EventSource accepts.
	eventStream = "text/event-stream"
)

// live keeps open tabs current. While there is one, each page that any tab shows is made once in a beat.
type live struct {
	mu    sync.Mutex
	feeds map[string]*feed
}

// feed is a page that tabs of one role show.
type feed struct {
	view    View
	ask     ask // of the first tab
	viewers map[*viewer]bool
	last    shownState // as the tabs have it
}

// viewer is a stream to a tab.
type viewer struct {
	messages chan []byte // closed when the page has ended, or the browser is too late
	begun    bool        // has a state
}

// shownState is a page as lines, without the cells of its grid; and these.
type shownState struct {
	lines []string
	cells map[string]cell
}

// cell of a grid, as [class, phase].
type cell [2]string

// message is what changed: at first everything.
type message struct {
	Time  time.Time       `json:"time"`
	Clock string          `json:"clock"`
	Lines []any           `json:"lines,omitempty"`
	Cells map[string]cell `json:"cells,omitempty"`
}

// grid is the body of a page with cells, which are sent by themselves.
type grid interface{ cells() map[string]cell }

// streams reports whether a request is that of an EventSource: the page's own address answers with its changes.
func streams(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Accept") == eventStream
}

// stream sends the changes of a page until the browser leaves, the login ends, or the page is gone. The browser then
// reads the page, which has the reason.
func (w *Web) stream(view View, out http.ResponseWriter, asked ask) {
	one, leave := w.join(view, asked)
	defer leave()
	out.Header().Set("Content-Type", eventStream)
	control, ended := http.NewResponseController(out), asked.Context().Done()
	send := func(parts ...[]byte) error {
		err := control.SetWriteDeadline(time.Now().Add(sendTime))
		for _, part := range parts {
			if err == nil {
				_, err = out.Write(part)
			}
		}
		if err == nil {
			err = control.Flush()
		}
		return err //nolint:wrapcheck // the browser is gone
	}
	for err := send([]byte(": sledd\n\n")); err == nil; {
		select {
		case <-ended:
			return
		case <-w.Stopping.Done():
			return
		case text, open := <-one.messages:
			if !open {
				return
			}
			ctx, cancel := context.WithTimeout(asked.Context(), answerTime)
			if _, err = w.loggedIn(ctx, asked.Request); err == nil {
				err = send([]byte("data: "), text, []byte("\n\n"))
			}
			cancel()
		}
	}
}

// join adds a viewer. The first one starts the work on all pages.
func (w *Web) join(view View, asked ask) (one *viewer, leave func()) {
	one = &viewer{messages: make(chan []byte, ahead)}
	key := string(asked.Operator.Role) + " " + asked.URL.RequestURI()
	w.live.mu.Lock()
	defer w.live.mu.Unlock()
	if len(w.live.feeds) == 0 {
		w.live.feeds = map[string]*feed{}
		go w.keepCurrent()
	}
	of := w.live.feeds[key]
	if of == nil {
		of = &feed{view: view, ask: asked, viewers: map[*viewer]bool{}}
		w.live.feeds[key] = of
	}
	of.viewers[one] = true
	return one, func() {
		w.live.mu.Lock()
		defer w.live.mu.Unlock()
		delete(of.viewers, one)
	}
}

// keepCurrent makes the pages until no tab shows any.
func (w *Web) keepCurrent() {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		w.live.mu.Lock()
		maps.DeleteFunc(w.live.feeds, func(_ string, of *feed) bool { return len(of.viewers) == 0 })
		feeds := slices.Collect(maps.Values(w.live.feeds))
		w.live.mu.Unlock()
		if len(feeds) == 0 {
			return
		}
		for _, of := range feeds {
			w.advance(of)
		}
		select {
		case <-ticker.C:
		case <-w.Stopping.Done():
			return
		}
	}
}
