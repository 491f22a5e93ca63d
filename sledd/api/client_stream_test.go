// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestStreamResumesWhereItBroke(t *testing.T) {
	var resumed []string
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.Header.Get("Last-Event-ID")+" "+r.URL.Query().Get("node")+" "+r.Header.Get("Accept"))
		w.Header().Set("Content-Type", "text/event-stream")
		if len(resumed) == 1 {
			_, _ = fmt.Fprint(w, ": hello\n\ndata: {\"id\":11,\ndata: \"kind\":\"plan\"}\r\n\r\n"+
				"id: 11\ndata: {\"id\":11,\"kind\":\"begin\"}\n\nid: 12\ndata: {\"id\"")
			return // in the middle of an event
		}
		_, _ = fmt.Fprint(w, "id: 12\ndata: {\"id\":12,\"kind\":\"end\"}\n\n")
	})
	lost, opened := 0, 0
	var kinds []string
	for event, err := range client.Stream(t.Context(),
		Follow{Node: "n1", After: 10, Opened: func() { opened++ }, Lost: func(error) { lost++ }}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, event.Kind)
		if event.Kind == "end" {
			break
		}
	}
	if want := []string{"plan", "begin", "end"}; !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
	if want := []string{"10 n1 text/event-stream", "11 n1 text/event-stream"}; !slices.Equal(resumed, want) ||
		lost != 1 || opened != 2 {
		t.Errorf("connections %q, want %q; told %d times of a loss, %d times of a connection", resumed, want, lost, opened)
	}
}

func TestStreamThatCannotBeResumedBeginsAnew(t *testing.T) {
	var resumed []string
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.Header.Get("Last-Event-ID"))
		if len(resumed) == 1 {
			http.Error(w, "", http.StatusGone)
			return
		}
		_, _ = fmt.Fprint(w, "id: 12\ndata: {\"id\":12,\"kind\":\"end\"}\n\n")
	})
	var order []string
	note := func(what string) func() { return func() { order = append(order, what) } }
	follow := Follow{After: 10, Opened: note("opened"), Missed: note("missed"), Lost: func(error) { note("lost")() }}
	for event, err := range client.Stream(t.Context(), follow) {
		if err != nil {
			t.Fatal(err)
		}
		note(event.Kind)()
		break
	}
	if want := []string{"10", ""}; !slices.Equal(resumed, want) {
		t.Errorf("resumed after %q, want %q", resumed, want)
	}
	if want := []string{"opened", "missed", "end"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

func TestStreamEndsWithARefusal(t *testing.T) {
	client := connect(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusForbidden) })
	var errs []error
	for _, err := range client.Stream(t.Context(), Follow{}) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !IsDenied(errs[0]) {
		t.Errorf("%v", errs)
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	for event, err := range client.Stream(ctx, Follow{}) {
		t.Errorf("got %v, %v", event, err)
	}
}

func TestEventsThatAreNoneAreRefused(t *testing.T) {
	take := func(Event, int64) bool { return true }
	for _, text := range []string{"data: {\n\n", "data: []\n\n", "data: " + strings.Repeat("x", maxEventLine+1)} {
		if err := readEvents(strings.NewReader(text), take); err == nil || !strings.Contains(err.Error(), "event stream") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add("id: 1\ndata: {\"id\":1}\n\n")
	f.Add(": x\r\n\r\ndata:{}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		if err := readEvents(strings.NewReader(text), func(Event, int64) bool { return true }); err == nil {
			t.Error("a stream has no end but an error")
		}
	})
}
