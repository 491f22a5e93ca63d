// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// paths lists the paths of the records of a filter.
func paths(t *testing.T, trail *Trail, filter Filter) string {
	t.Helper()
	if filter.Limit == 0 {
		filter.Limit = 100
	}
	list, err := trail.List(t.Context(), filter)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, record := range list {
		text = append(text, record.Path)
	}
	return strings.Join(text, " ")
}

func record(operator, path, node string) api.AuditRecord {
	return api.AuditRecord{Operator: operator, Role: api.Operate, From: "10.0.0.9", Method: "PUT", Path: path, Node: node,
		Status: 200}
}

// made records a change; the store must take it.
func made(t *testing.T, trail *Trail, record api.AuditRecord) {
	t.Helper()
	if err := trail.Made(t.Context(), record); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsAreKeptAndFiltered(t *testing.T) {
	var logged bytes.Buffer
	trail := New(&storetest.Memory{}, slog.New(slog.NewTextHandler(&logged, nil)), func() time.Time { return noon })
	made(t, trail, record("alice", "/a", "n1"))
	made(t, trail, record("bob", "/b", "n1"))
	trail.Failed(record("alice", "/c", "n2"))
	for want, filter := range map[string]Filter{"/a /b /c": {}, "/a /c": {Operator: "alice"}, "/a /b": {Node: "n1"},
		"/b /c": {Limit: 2}, "/c": {Operator: "alice", Limit: 1}, "": {Operator: "eve"}} {
		if got := paths(t, trail, filter); got != want {
			t.Errorf("%+v: %q, want %q", filter, got, want)
		}
	}
	if line := logged.String(); !strings.Contains(line, "operator=alice role=operate from=10.0.0.9 method=PUT path=/a "+
		"node=n1 status=200") {
		t.Errorf("logged: %s", line)
	}
}

// Each operator has a quota: what one does or is refused removes no record of another.
func TestOldAndSurplusRecordsGo(t *testing.T) {
	now := noon
	memory := &storetest.Memory{}
	trail := New(memory, slog.New(slog.DiscardHandler), func() time.Time { return now })
	trail.most = 3
	made(t, trail, record("a", "/old", ""))
	made(t, trail, record("b", "/old", ""))
	now = now.Add(life + time.Second)
	made(t, trail, record("b", "/b", ""))
	made(t, trail, record("a", "/1", ""))
	for _, step := range []struct{ path, want string }{{"", "/b /1"}, {"/2", "/b /1 /2"}, {"/3", "/b /1 /2 /3"},
		{"/4", "/b /2 /3 /4"}} {
		if step.path != "" {
			made(t, trail, record("a", step.path, ""))
		}
		if err := trail.Trim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := paths(t, trail, Filter{}); got != step.want {
			t.Errorf("after %q: %q, want %q", step.path, got, step.want)
		}
	}
	for range 10 * page { // several pages, and more deletions than one commit has
		trail.add(record("a", "/more", ""))
		if len(trail.waiting) == held {
			_ = paths(t, trail, Filter{Limit: 1})
		}
	}
	if !trail.isFull() {
		t.Error("nothing is to be trimmed")
	}
	if err := trail.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := paths(t, trail, Filter{}); got != "/b /more /more /more" || trail.isFull() {
		t.Errorf("%q", got)
	}
}

func TestRecordsWaitForTheStore(t *testing.T) {
	memory, down := &storetest.Memory{}, errors.New("down")
	memory.Before(func(string) error { return down })
	trail := New(memory, slog.New(slog.DiscardHandler), func() time.Time { return noon })
	if err := trail.Made(t.Context(), record("b", "/b", "")); !errors.Is(err, down) {
		t.Fatal(err)
	}
	for range held + 10 {
		trail.Failed(record("a", "/x", ""))
	}
	trail.Refused(record("c", "/c", ""))
	if err := trail.Store(t.Context()); !errors.Is(err, down) {
		t.Fatal(err)
	}
	memory.Before(nil)
	got := paths(t, trail, Filter{Limit: 5000})
	if strings.Count(got, "/x") != held-1 || strings.Count(got, "/b") != 1 || strings.Count(got, "/c") != 1 {
		t.Errorf("%d records of a, want %d; of b and c: %d, %d", strings.Count(got, "/x"), held-1,
			strings.Count(got, "/b"), strings.Count(got, "/c"))
	}
}

// A record is stored for a client that is gone, too.
func TestRecordsOfClientsThatLeave(t *testing.T) {
	trail := New(&storetest.Memory{}, slog.New(slog.DiscardHandler), func() time.Time { return noon })
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := trail.Made(gone, record("a", "/a", "")); err != nil || len(trail.waiting) > 0 {
		t.Errorf("%v, %d records wait", err, len(trail.waiting))
	}
}

// Refused requests are counted, by operator and hour, also by several sledd and over a restart.
func TestRefusedRequestsAreCounted(t *testing.T) {
	memory, now := &storetest.Memory{}, noon
	clock := func() time.Time { return now }
	log := slog.New(slog.DiscardHandler)
	trails := []*Trail{New(memory, log, clock), New(memory, log, clock)}
	for i := range 1000 {
		for _, trail := range trails {
			trail.Refused(record("eve", fmt.Sprint("/", i), ""))
			if i%100 == 0 {
				if err := trail.Store(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i == 499 {
			now = now.Add(time.Hour)
		}
	}
	trails[0].Refused(record("bob", "/b", ""))
	if err := trails[1].Store(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := trails[0].List(t.Context(), Filter{Limit: 100})
	if err != nil || len(list) != 3 {
		t.Fatalf("%v: %+v", err, list)
	}
	count := map[string]int{}
	for _, r := range list {
		count[r.Operator+r.Time.Format(" 15:04:05")] = r.Refused
	}
	if count["eve 12:00:00"] != 1000 || count["eve 13:00:00"] != 1000 || count["bob 13:00:00"] != 1 {
		t.Errorf("%v", count)
	}
}
