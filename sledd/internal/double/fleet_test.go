// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/double"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// history is that of a fleet of one node of which some responses are lost, with what sledd knows at its end.
func history(t *testing.T) []double.Call {
	t.Helper()
	s := fleet(t)
	var text strings.Builder
	one := double.Fleet{Dir: t.TempDir(), Seed: 1, Loss: 0.2, History: &text,
		Settings: double.Settings{Server: s.URL, Disk: "LAB-0001"}}
	if err := one.Run(t.Context(), []string{sleddtest.MAC(1)}); err != nil {
		t.Fatal(err)
	}
	var calls []double.Call
	for line := range strings.Lines(text.String()) {
		var call double.Call
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	events, err := s.Client().Events(t.Context(), "n1", 200)
	if err != nil {
		t.Fatal(err)
	}
	known, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	return append(calls, double.Call{Node: sleddtest.MAC(1), Phase: string(s.Node(1).Status.Phase), Events: known})
}

// faults checks a history.
func faults(t *testing.T, calls []double.Call) string {
	t.Helper()
	var text strings.Builder
	for _, call := range calls {
		if err := json.NewEncoder(&text).Encode(call); err != nil {
			t.Fatal(err)
		}
	}
	found, nodes, err := double.Check(strings.NewReader(text.String()))
	if err != nil || nodes != 1 {
		t.Fatalf("%d nodes: %v", nodes, err)
	}
	return strings.Join(found, "\n")
}

func TestTheHistoryOfAFleet(t *testing.T) {
	calls := history(t)
	if found := faults(t, calls); found != "" {
		t.Error(found)
	}
	lost := 0
	for _, call := range calls {
		if call.Lost {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no response was lost")
	}
	last := len(calls) - 1
	for name, c := range map[string]struct {
		change func()
		want   string
	}{
		"an event is missing": {func() { calls[last].Events = json.RawMessage("[]") },
			"begin of step 1, run 1: acknowledged, and stored 0 times"},
		"a node is stuck": {func() { calls[last].Phase = "writing" }, `it ended in phase "writing"`},
		"a second plan": {func() {
			for i, call := range calls {
				if strings.Contains(call.Sent, "verb=kexec") {
					calls[i].Sent = strings.Replace(call.Sent, "run 1", "run 2", 1)
				}
			}
		}, "runs 1 and 2 of generation 1 of boot"},
	} {
		kept := append([]double.Call(nil), calls...)
		c.change()
		if found := faults(t, calls); !strings.Contains(found, c.want) {
			t.Errorf("%s: %q", name, found)
		}
		calls = kept
	}
}
