// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// follower reads a stream of events.
type follower struct {
	*testing.T
	events chan api.Event
	lastID string // as a client would remember it; read it only after an event came
	err    chan error
}

// follow opens the stream; it returns when the stream is open, so that what happens afterwards is on it.
func (s *sledd) follow(query string, after int64) *follower {
	s.Helper()
	return s.followAs(adminToken, query, after)
}

func (s *sledd) followAs(token, query string, after int64) *follower {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events"+query, nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if after > 0 {
		request.Header.Set("Last-Event-ID", fmt.Sprint(after))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK ||
		response.Header.Get("Content-Type") != "text/event-stream" {
		s.Fatalf("stream: %v: %+v", err, response)
	}
	f := &follower{T: s.T, events: make(chan api.Event, 1000), err: make(chan error, 1)}
	lines := bufio.NewScanner(response.Body)
	lines.Scan() // the opening comment
	go func() {
		defer response.Body.Close()
		defer close(f.events)
		for lines.Scan() {
			if id, found := strings.CutPrefix(lines.Text(), "id: "); found {
				f.lastID = id
			}
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
				var event api.Event
				if err := json.Unmarshal([]byte(data), &event); err != nil {
					event.Detail = api.Clean(err.Error())
				}
				f.events <- event
			}
		}
		f.err <- lines.Err()
	}()
	return f
}

func (f *follower) ended() error { return <-f.err }

// kinds reads that many events.
func (f *follower) kinds(n int) string {
	f.Helper()
	text := ""
	for range n {
		event, open := <-f.events
		if !open {
			f.Fatalf("the stream ended after %q", text)
		}
		text += event.MAC[len(event.MAC)-1:] + event.Kind + " "
	}
	return text
}

func TestStream(t *testing.T) {
	s := fresh(t)
	all, one := s.follow("", 0), s.follow("?node="+address(1), 0)
	s.Declare(1)
	s.Declare(2)
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=1 verb=idle", "end step=1 verb=idle code=0 seconds=1") // two events at one revision
	want := "1declare 2declare 1claim 1admit 1facts 1plan 1begin 1end "
	if got := all.kinds(8); got != want {
		t.Errorf("all: %s", got)
	}
	if got := one.kinds(7); got != "1declare 1claim 1admit 1facts 1plan 1begin 1end " {
		t.Errorf("one node: %s", got)
	}
	list := as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items
	if begin, end := list[5], list[6]; begin.ID != end.ID || all.lastID != fmt.Sprint(end.ID) {
		t.Errorf("begin %d, end %d, last id on the stream %s", begin.ID, end.ID, all.lastID)
	}
	resumed := s.follow("", list[0].ID)
	s.admin(204, "POST", "/v1/nodes/n1/events", api.NodeEvent{Kind: "power", Detail: "off"})
	if got := resumed.kinds(8); got != "2declare 1claim 1admit 1facts 1plan 1begin 1end 1power " {
		t.Errorf("resumed: %s", got)
	}
	s.admin(404, "GET", "/v1/events?node=nobody", nil)
}

func TestStreamAfterAnEventOfAnotherStoreIsGone(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	newest := as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items[0].ID
	a := s.admin(410, "GET", "/v1/events", nil, "Last-Event-ID", fmt.Sprint(newest+1000))
	if a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%v", a.Header)
	}
	s.Stop()
	s.Resume()
	resumed := s.follow("", newest) // a restarted sledd resumes it all the same
	s.Declare(2)
	if got := resumed.kinds(1); got != "2declare " {
		t.Errorf("resumed: %s", got)
	}
}

func TestEventsOfANodeAreBounded(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	for i := range 520 {
		s.admin(204, "POST", "/v1/nodes/n1/events", api.NodeEvent{Kind: "power", Detail: fmt.Sprint(i)})
	}
	var items []api.Event
	patience.Until(t, "old events are deleted", func() bool {
		items = as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items
		return len(items) < 500 && items[0].Kind == "power"
	})
	if last := items[len(items)-1]; last.Detail.String() != "519" {
		t.Errorf("the newest event is %+v", last)
	}
	if few := as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events?limit=2", nil)).Items; len(few) != 2 ||
		few[1].Detail.String() != "519" || few[0].Detail.String() != "518" {
		t.Errorf("%+v", few)
	}
}

// A stream ends with the right to read it, whether or not something happens on it.
func TestStreamEndsWithItsToken(t *testing.T) {
	for name, end := range map[string]func(*sledd){
		"revoked": func(s *sledd) { s.admin(204, "DELETE", "/v1/operators/eve", nil) },
		"replaced": func(s *sledd) {
			s.admin(200, "PUT", "/v1/operators/eve", api.Operator{Name: "eve", Role: api.Admin})
		},
		"expired": func(s *sledd) { s.later(2 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			s := runWith(t, sleddtest.Options{Heartbeat: 10 * time.Millisecond})
			made := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/eve",
				api.Operator{Name: "eve", Role: api.Read, Expires: s.now().Add(time.Hour)}))
			eve, admin := s.followAs(made.Token, "", 0), s.follow("", 0)
			s.Declare(1)
			if got := eve.kinds(1) + admin.kinds(1); got != "1declare 1declare " {
				t.Fatal(got)
			}
			end(s)
			_ = eve.ended()
			s.Declare(2)
			if got := admin.kinds(1); got != "2declare " {
				t.Error(got)
			}
			if event, open := <-eve.events; open {
				t.Errorf("after its end: %+v", event)
			}
		})
	}
}

// A store that does not answer takes nobody's right away.
func TestStreamOutlivesAnOutageOfTheStore(t *testing.T) {
	var down atomic.Bool
	var reads atomic.Int32
	memory := storetest.Hooked(func(call string) error {
		if call != "read" || !down.Load() {
			return nil
		}
		reads.Add(1)
		return &store.UnavailableError{Operation: call, Err: errors.New("down")}
	})
	s := runWith(t, sleddtest.Options{Store: memory, Heartbeat: time.Millisecond})
	follower := s.follow("", 0)
	down.Store(true)
	patience.Until(t, "the token was checked twice", func() bool { return reads.Load() > 2 })
	down.Store(false)
	s.Declare(1)
	if got := follower.kinds(1); got != "1declare " {
		t.Error(got)
	}
}
