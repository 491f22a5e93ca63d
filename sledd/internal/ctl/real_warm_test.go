// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// warm images n1 in a rollout, out of its running system without firmware, and returns the name of the rollout.
func (s session) warm() string {
	s.Helper()
	m, client := s.Machine(1), s.Client()
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m.Fulfil()
	one, err := client.StartRollout(s.Context(), "",
		api.RolloutSpec{Nodes: []string{"n1"}, Desired: "image d12", Again: true})
	if err != nil {
		s.Fatal(err)
	}
	s.Report(one.Name, "n1", api.NodeRunSpec{State: api.RunRunning, EntryMethod: "warm"})
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	if a := s.Ask("POST", "/v1/nodes/n1/events", s.Token, `{"kind":"entry","detail":"warm"}`); a.Status != 204 {
		s.Fatal(a.Status, a.Body)
	}
	boot, err := client.Boot(s.Context(), "n1")
	if err != nil {
		s.Fatal(err)
	}
	m.Enter(boot.Ticket)
	m.Say("facts", "facts 1\nboot "+m.Boot+"\nkernel uptime=0.001\ndisk name=vda serial="+m.Serial+" bytes=1000\n")
	m.Fulfil()
	s.Report(one.Name, "n1", api.NodeRunSpec{State: api.RunDone})
	return one.Name
}

// TestAWarmRunIsShownEverywhere: what sledd recorded of a run without firmware, in every place where people read it.
func TestAWarmRunIsShownEverywhere(t *testing.T) {
	s := begin(t)
	name := s.warm()
	html, figures := filepath.Join(t.TempDir(), "r.html"), filepath.Join(t.TempDir(), "r.json")

	timeline := s.does(exitDone, "timeline n1", "").out
	if !regexp.MustCompile(`(?m)^ +warm `).MatchString(timeline) || strings.Contains(timeline, "firmware") {
		t.Errorf("timeline:\n%s", timeline)
	}
	s.does(exitDone, "rollout get "+name, " warm ")
	report := s.does(exitDone, "rollout report "+name+" --html "+html+" --json "+figures, "").out
	if !regexp.MustCompile(`(?m)^warm +1 `).MatchString(report) {
		t.Errorf("report:\n%s", report)
	}

	text, err := os.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	var summary rollout.Summary
	if err := json.Unmarshal(text, &summary); err != nil {
		t.Fatal(err)
	}
	named := func(f rollout.Figures) bool { return f.Name == "warm" && f.Nodes == 1 }
	if !slices.ContainsFunc(summary.Stages, named) || !slices.ContainsFunc(summary.EntryMethods, named) ||
		summary.Nodes[0].Stages[0].Name != "warm" {
		t.Errorf("JSON: %s", text)
	}

	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`class="s-warm"`, `<th scope="row">warm</th>`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
