// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"errors"
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

func TestRecordsAreKeptAndFiltered(t *testing.T) {
	var logged bytes.Buffer
	trail := New(&storetest.Memory{}, slog.New(slog.NewTextHandler(&logged, nil)), func() time.Time { return noon })
	trail.Add(record("alice", "/a", "n1"))
	trail.Add(record("bob", "/b", "n1"))
	trail.Add(record("alice", "/c", "n2"))
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

func TestOldAndSurplusRecordsGo(t *testing.T) {
	now := noon
	trail := New(&storetest.Memory{}, slog.New(slog.DiscardHandler), func() time.Time { return now })
	trail.most = 3
	trail.Add(record("a", "/old", ""))
	now = now.Add(life + time.Second)
	trail.Add(record("a", "/1", ""))
	for _, step := range []struct{ path, want string }{{"", "/1"}, {"/2", "/1 /2"}, {"/3", "/1 /2 /3"},
		{"/4", "/2 /3 /4"}} {
		if step.path != "" {
			trail.Add(record("a", step.path, ""))
		}
		_ = paths(t, trail, Filter{}) // stores
		if err := trail.Trim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := paths(t, trail, Filter{}); got != step.want {
			t.Errorf("after %q: %q, want %q", step.path, got, step.want)
		}
	}
}

func TestRecordsWaitForTheStore(t *testing.T) {
	memory, down := &storetest.Memory{}, errors.New("down")
	memory.Before = func(string) error { return down }
	trail := New(memory, slog.New(slog.DiscardHandler), func() time.Time { return noon })
	for range held + 10 {
		trail.Add(record("a", "/x", ""))
	}
	if err := trail.Store(t.Context()); !errors.Is(err, down) {
		t.Fatal(err)
	}
	memory.Before = nil
	if got := strings.Count(paths(t, trail, Filter{Limit: 5000}), "/x"); got != held {
		t.Errorf("%d records are left, want %d", got, held)
	}
}
