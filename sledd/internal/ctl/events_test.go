// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bytes"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestEventsOfAListAndOfTheStreamArePrintedOnce(t *testing.T) {
	var out bytes.Buffer
	shown := &shownEvents{app: &app{System: System{Out: &out}, output: "json"}, newest: -1}
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
