// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

func limited(limit int64) *Guard { return &Guard{limit: &limit} }

func again(node string) Reimage {
	return Reimage{Node: node, Disk: "only", Image: "v2", From: 1, To: 2}
}

func errorsOf(diagnostics diag.Diagnostics) (all []string) {
	for _, one := range diagnostics.Errors() {
		all = append(all, one.Detail())
	}
	return all
}

func TestReimageText(t *testing.T) {
	for want, one := range map[string]Reimage{
		"n1: disk serial:A is wiped and gets image v2 (generation 1 -> 2)": {Node: "n1", Disk: "serial:A", Image: "v2",
			From: 1, To: 2},
		"n1: all disks are wiped and one gets image v2 (generation 1 -> 2)": {Node: "n1", Disk: api.AllDisks, Image: "v2",
			From: 1, To: 2},
		"n1: partition 2 of disk serial:A gets image v2 (generation 1 -> 2)": {Node: "n1", Disk: "serial:A", Partition: "2",
			Image: "v2", From: 1, To: 2},
		"n1: all disks are wiped (generation 0 -> 1)": {Node: "n1", Disk: "serial:A", To: 1},
		"n1: disk only is wiped and gets image v2 (generation 4 -> a later one)": {Node: "n1", Disk: "only", Image: "v2",
			From: 4},
		"n1: disk of the node is wiped and gets image v2 (first image)": {Node: "n1", Disk: "of the node", Image: "v2"},
	} {
		if got := one.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Each machine counts once, first images never do, and the first plan past the limit reports it for all.
func TestGuardCounts(t *testing.T) {
	g := limited(2)
	for i, node := range []string{"n1", "n2", "n1", "n2"} {
		if d := g.Plan(again(node)); d.HasError() || d.WarningsCount() != 1 {
			t.Errorf("%d: %v", i, d)
		}
	}
	first := again("n3")
	first.From = 0
	if d := g.Plan(first); d.HasError() {
		t.Errorf("a first image counts: %v", d)
	}
	got := errorsOf(g.Plan(again("n4")))
	const want = "max_reimages of the provider is 2, this plan images at least 3: n1, n2, n4."
	if len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("%q", got)
	}
	for i := range 500 {
		if got := errorsOf(g.Plan(again(fmt.Sprint("m", i)))); len(got) > 0 {
			t.Fatalf("a second error: %q", got)
		}
	}
}

// What the state has as bound is no first image, although sledd knows of no binding; whichever comes first, what the
// state has or the plan.
func TestGuardKnowsTheState(t *testing.T) {
	first := Reimage{Node: "n1", MAC: "52:54:00:77:00:01", Disk: "only", Image: "v2"}
	g := limited(0)
	if d := g.Know(first.MAC, "n1"); d.HasError() {
		t.Error(d)
	}
	if d := g.Plan(first); !d.HasError() {
		t.Error("a machine that the state has as bound is imaged as if it was the first time")
	}
	for _, known := range [][2]string{{first.MAC, ""}, {"", "n1"}} {
		g = limited(0)
		if d := g.Plan(first); d.HasError() {
			t.Error(d)
		}
		if d := g.Know("52:54:00:77:00:02", "n2"); d.HasError() {
			t.Errorf("another machine: %v", d)
		}
		if got := errorsOf(g.Know(known[0], known[1])); len(got) != 1 || !strings.Contains(got[0], "at least 1: n1.") {
			t.Errorf("%q", got)
		}
	}
}

// max_wipes counts first images too.
func TestGuardCountsWipes(t *testing.T) {
	most := int64(1)
	g := &Guard{wipes: &most}
	first := again("n1")
	first.From = 0
	if d := g.Plan(first, first); d.HasError() {
		t.Error(d)
	}
	got := errorsOf(g.Plan(again("n2")))
	if len(got) != 1 || !strings.Contains(got[0], "max_wipes of the provider is 1, this plan wipes disks of at least 2") {
		t.Errorf("%q", got)
	}
}

func TestGuardOfNone(t *testing.T) {
	if d := limited(0).Plan(again("n1")); !d.HasError() {
		t.Error("max_reimages = 0 lets one pass")
	}
	g := &Guard{}
	for i := range 1000 {
		if d := g.Plan(again(fmt.Sprint("n", i))); d.HasError() {
			t.Fatalf("without a limit: %v", d)
		}
	}
	if d := limited(0).Plan(); len(d) != 0 {
		t.Errorf("nothing is planned: %v", d)
	}
}

// Plans of many resources come at the same time.
func TestGuardIsConcurrent(t *testing.T) {
	g := limited(10)
	var running sync.WaitGroup
	failed := make(chan string, 30)
	for i := range 30 {
		running.Go(func() {
			g.Hold(fmt.Sprint(i), Held{})
			if d := g.Plan(again(fmt.Sprintf("n%02d", i))); d.HasError() {
				failed <- errorsOf(d)[0]
			}
		})
	}
	running.Wait()
	close(failed)
	count, last := 0, ""
	for text := range failed {
		count++
		if len(text) > len(last) {
			last = text
		}
	}
	if count != 1 || !strings.Contains(last, "at least 11: n") {
		t.Errorf("%d errors, the longest: %s", count, last)
	}
	if g.Held("7") == nil || g.Held("31") != nil {
		t.Error("what is held is not what was held")
	}
}

// Few machines get a warning each, many one together, first images too: the CLI folds what looks alike.
func TestGuardFoldsWarnings(t *testing.T) {
	all := make([]Reimage, 21)
	for i := range all {
		all[i] = again(fmt.Sprint("n", i))
	}
	if d := (&Guard{}).Plan(all[:20]...); d.WarningsCount() != 20 {
		t.Errorf("20 machines: %d warnings", d.WarningsCount())
	}
	d := (&Guard{}).Plan(all...)
	if d.WarningsCount() != 1 || strings.Count(d[0].Detail(), "generation 1 -> 2") != 21 {
		t.Errorf("21 machines: %v", d)
	}
	g := &Guard{}
	for i := range 21 {
		first := again(fmt.Sprint("n", i))
		first.From = 0
		d = g.Plan(first)
	}
	if d[0].Summary() != "Disks are wiped" {
		t.Errorf("the 21st first image: %v", d)
	}
}
