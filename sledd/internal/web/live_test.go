// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// change is a message of a stream.
type change struct {
	Lines []json.RawMessage
	Cells map[string][2]string
}

// tab follows a page as its script does.
type tab struct {
	*testing.T
	lines   []string
	cells   map[string][2]string
	scanner *bufio.Scanner
}

func (b *browser) tab(path string) *tab {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	b.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Cookie", b.cookie)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		b.Fatalf("%s: %d %v", path, answer.StatusCode, answer.Header)
	}
	made := &tab{T: b.T, cells: map[string][2]string{}, scanner: bufio.NewScanner(answer.Body)}
	made.scanner.Buffer(nil, 16<<20)
	return made
}

// next applies the next message; false: the stream has ended.
func (t *tab) next() (change, bool) {
	t.Helper()
	for t.scanner.Scan() {
		text, found := strings.CutPrefix(t.scanner.Text(), "data: ")
		if !found {
			continue
		}
		var got change
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		t.apply(got)
		return got, true
	}
	return change{}, false
}

func (t *tab) apply(got change) {
	t.Helper()
	var lines []string
	for _, part := range got.Lines {
		var text string
		var run [2]int
		if json.Unmarshal(part, &text) == nil {
			lines = append(lines, text)
		} else if err := json.Unmarshal(part, &run); err != nil {
			t.Fatal(err)
		} else {
			lines = append(lines, t.lines[run[0]:run[0]+run[1]]...)
		}
	}
	if got.Lines != nil {
		t.lines = lines
	}
	for address, cell := range got.Cells {
		t.cells[address] = cell
	}
}

// until applies messages until the page has what is wanted.
func (t *tab) until(what string, done func(text string) bool) {
	t.Helper()
	for !done(strings.Join(t.lines, "\n")) {
		if _, open := t.next(); !open {
			t.Fatalf("the stream ended before: %s", what)
		}
	}
}

// A stream begins with the whole page and all cells, and sends what changes.
func TestAStreamHasWhatChanges(t *testing.T) {
	b := open(t, 400, sleddtest.Options{})
	fleet, list := b.tab("/ui/"), b.tab("/ui/nodes?sort=name")
	first, _ := fleet.next()
	if len(first.Cells) != 400 || strings.Contains(strings.Join(fleet.lines, ""), "title=\"n1:") {
		t.Fatalf("%d cells, %s", len(first.Cells), fleet.lines)
	}
	list.next()
	second, _ := fleet.next()
	if len(second.Cells) != 0 {
		t.Errorf("without a change: %v", second.Cells)
	}
	var changed store.Transaction
	failed := api.Status{Phase: api.Failed, Reason: nodetext.Clean("it smokes")}
	changed.Put(key.Status+sleddtest.MAC(1), nodetx.Encode(failed))
	if _, err := b.Fleet.Store.Commit(b.Context(), changed); err != nil {
		t.Fatal(err)
	}
	fleet.until("the counter", func(text string) bool { return strings.Contains(text, "it smokes") })
	list.until("the row", func(text string) bool { return strings.Contains(text, "it smokes") })
	if fleet.cells[sleddtest.MAC(1)] != [2]string{"p-failed", "failed"} {
		t.Errorf("cell: %v", fleet.cells[sleddtest.MAC(1)])
	}
}

// A stream ends with its login and with its object; the page tells why.
func TestAStreamEnds(t *testing.T) {
	b := open(t, 40, sleddtest.Options{})
	gone := b.tab("/ui/nodes/" + sleddtest.MAC(39))
	gone.next()
	if err := b.Client().DeleteNode(b.Context(), sleddtest.MAC(39)); err != nil {
		t.Fatal(err)
	}
	for _, open := gone.next(); open; _, open = gone.next() {
	}
	stays := b.tab("/ui/images")
	stays.next()
	b.ask("POST", "/ui/logout", nil)
	for _, open := stays.next(); open; _, open = stays.next() {
	}
	if a := b.ask("GET", "/ui/images", nil, "Accept", "text/event-stream"); a.Status != http.StatusUnauthorized {
		t.Errorf("without a login: %d", a.Status)
	}
}
