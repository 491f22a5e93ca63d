// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

func TestEventsOfAListAndOfTheStreamArePrintedOnce(t *testing.T) {
	var out bytes.Buffer
	shown := &shownEvents{app: &app{System: System{Printer: show.Printer{Out: &out}}, output: "json"}, newest: -1}
	event := func(id int64, kind string) api.Event { return api.Event{ID: id, Kind: kind} }
	kinds := func() string {
		text := ""
		for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
			_, after, _ := bytes.Cut(line, []byte(`"kind":"`))
			kind, _, _ := bytes.Cut(after, []byte(`"`))
			text += string(kind) + " "
		}
		return text
	}
	steps := []func() error{
		func() error { return shown.list([]api.Event{event(0, "a"), event(7, "b"), event(7, "c")}) },
		func() error { return shown.one(event(8, "d")) },
		func() error { return shown.one(event(8, "e")) }, // of the same revision, also new
		func() error {
			return shown.list([]api.Event{event(7, "b"), event(7, "c"), event(8, "d"), event(8, "e"), event(9, "f"),
				event(9, "g")})
		},
		func() error { return shown.one(event(9, "g")) },
		func() error { return shown.one(event(10, "h")) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatal(i, err)
		}
	}
	if got := kinds(); got != "a b c d e f g h " {
		t.Errorf("printed %s", got)
	}
}

func TestFeedIsFollowed(t *testing.T) {
	s := begin(t)
	s.Register("d12")
	s.Declare(1)
	s.Declare(2)
	ctx, stop := context.WithTimeout(t.Context(), patience.Limit)
	defer stop()
	var out ctltest.Buffer
	ended := make(chan int)
	go func() {
		environment := map[string]string{"SLED_SERVER": s.URL, "SLED_TOKEN": token}
		ended <- Run(ctx, strings.Fields("events -f --kind bind --by admin"), System{
			Printer: show.Printer{Out: &out, Err: io.Discard, Now: time.Now},
			Getenv:  func(name string) string { return environment[name] }})
	}()
	for !strings.Contains(out.String(), "  n1  ") && ctx.Err() == nil { // until the stream is open
		s.does(exitDone, "bind n1 --image d12 --reimage --yes", "")
	}
	s.does(exitDone, "node apply n2 --label rack=b", "")
	s.does(exitDone, "bind n2 --image d12", "")
	for !strings.Contains(out.String(), "  n2  ") && ctx.Err() == nil {
		s.does(exitDone, "events --kind bind", "  n1  ")
	}
	stop()
	if code := <-ended; code != exitDone || !strings.Contains(out.String(), "  n2  ") {
		t.Errorf("exit %d, followed %s", code, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, " bind ") || !strings.Contains(line, ", by admin via sledctl from 127.0.0.1") {
			t.Errorf("followed %q", line)
		}
	}
}

func TestSinceTime(t *testing.T) {
	for text, want := range map[string]time.Time{"": {}, "2h": ctltest.Noon.Add(-2 * time.Hour), "0s": ctltest.Noon,
		"2026-11-21T10:00:00Z": ctltest.Noon.Add(-2 * time.Hour)} {
		if got, err := sinceTime(ctltest.Noon, text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"-2h", "yesterday", "2026-11-21", "2"} {
		if _, err := sinceTime(ctltest.Noon, text); exitCode(err) != exitUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
