// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// summed is a summary in a line.
func (r *rack) summed(by string, filter fleet.Filter) string {
	r.Helper()
	sum, err := r.Summary(r.Context(), by, filter)
	if err != nil {
		r.Fatal(err)
	}
	var parts []string
	for _, g := range append(sum.Groups, api.SummaryGroup{Value: "all", SummaryCount: sum.Total}) {
		parts = append(parts, fmt.Sprintf("%s:%d drift %d %v", g.Value, g.Nodes, g.Drift, g.Phases))
	}
	return strings.Join(parts, "; ")
}

func TestSummary(t *testing.T) {
	r := newRack(t)
	r.declare(1, 2, 3)
	r.register("v1")
	first := r.bind(binding(1, "v1"))
	r.bind(binding(2, "v1"))
	r.observe(1, api.Status{Phase: api.Operational, Generation: first.Generation, Image: "v1", Digest: first.Digest})
	r.observe(2, api.Status{Phase: api.Failed, Generation: 1})
	for by, want := range map[string]string{
		"phase": "failed:1 drift 1 map[failed:1]; operational:1 drift 0 map[operational:1]; " +
			"unseen:1 drift 0 map[unseen:1]; all:3 drift 1 map[failed:1 operational:1 unseen:1]",
		"image": ":2 drift 1 map[failed:1 unseen:1]; v1:1 drift 0 map[operational:1]; " +
			"all:3 drift 1 map[failed:1 operational:1 unseen:1]",
		"label:none": ":3 drift 1 map[failed:1 operational:1 unseen:1]; " +
			"all:3 drift 1 map[failed:1 operational:1 unseen:1]",
		"model": ":3 drift 1 map[failed:1 operational:1 unseen:1]; " +
			"all:3 drift 1 map[failed:1 operational:1 unseen:1]",
	} {
		if got := r.summed(by, fleet.Filter{}); got != want {
			t.Errorf("by %s:\n%s\nwant\n%s", by, got, want)
		}
	}
	for satisfied, want := range map[string]string{
		"true":  "operational:1 drift 0 map[operational:1]; all:1 drift 0 map[operational:1]",
		"false": "failed:1 drift 1 map[failed:1]; all:1 drift 1 map[failed:1]",
	} {
		if got := r.summed("phase", fleet.Filter{Satisfied: satisfied}); got != want {
			t.Errorf("satisfied %s: %s, want %s", satisfied, got, want)
		}
	}
	r.observe(3, api.Status{Phase: api.Writing, Since: now.Add(-api.Writing.Limit() - time.Minute)})
	if sum, err := r.Summary(t.Context(), "phase", fleet.Filter{Overdue: true}); err != nil || sum.Total.Nodes != 1 ||
		sum.Total.Overdue != 1 || len(sum.Groups) != 1 || sum.Groups[0].Value != "writing" {
		t.Errorf("overdue: %+v, %v", sum, err)
	}
	list, err := r.Nodes(t.Context(), fleet.Filter{Overdue: true, Limit: 10})
	if err != nil || len(list.Items) != 1 || list.Items[0].Overdue < 60 {
		t.Errorf("overdue: %+v, %v", list.Items, err)
	}
	if got := r.summed("phase", fleet.Filter{Phases: []api.Phase{api.Wiped}}); got != "all:0 drift 0 map[]" {
		t.Errorf("of no node: %s", got)
	}
	for _, by := range []string{"", "label:", "rack", "serial"} {
		if _, err := r.Summary(t.Context(), by, fleet.Filter{}); !refusal.Is(err, refusal.Invalid) {
			t.Errorf("by %q: %v", by, err)
		}
	}
}
