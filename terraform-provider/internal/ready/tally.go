// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// goal is what the wait is for: nodes, by MAC or name, with the generation that each is to reach.
type goal struct {
	nodes    map[string]int64
	need     int  // how many of them
	failFast bool // end as soon as so many failed that the others are not enough
}

// tally of all nodes.
type tally struct {
	ready   map[string]int64
	failed  map[string]string
	pending map[string]string
	phases  map[string]int
}

func newTally() tally {
	return tally{map[string]int64{}, map[string]string{}, map[string]string{}, map[string]int{}}
}

// count judges all nodes; those that sledd does not know are not in found.
func (g goal) count(found map[string]*api.Node) tally {
	t := newTally()
	for name, generation := range g.nodes {
		v := judge(found[name], generation)
		t.phases[v.phase]++
		switch v.outcome {
		case ready:
			t.ready[name] = v.generation
		case failed:
			t.failed[name] = v.text
		case pending:
			t.pending[name] = v.text
		}
	}
	return t
}

// unread is the tally before the first reading.
func (g goal) unread() tally {
	t := newTally()
	for name := range g.nodes {
		t.pending[name] = "not read yet"
		t.phases["not read yet"]++
	}
	return t
}

// met reports whether enough nodes are ready.
func (g goal) met(t tally) bool { return len(t.ready) >= g.need }

// hopeless reports whether waiting longer is useless.
func (g goal) hopeless(t tally) bool {
	return len(t.pending) == 0 || g.failFast && len(g.nodes)-len(t.failed) < g.need
}

// others lists the nodes that are not ready, those that failed first.
func (t tally) others() string {
	lines := make([]string, 0, len(t.failed)+len(t.pending))
	for _, name := range slices.Sorted(maps.Keys(t.failed)) {
		lines = append(lines, name+": failed: "+t.failed[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.pending)) {
		lines = append(lines, name+": "+t.pending[name])
	}
	return "  " + strings.ReplaceAll(textlist.Lines(lines), "\n", "\n  ")
}

// counts is how many nodes are in each phase.
func (t tally) counts() string {
	var parts []string
	for _, phase := range slices.Sorted(maps.Keys(t.phases)) {
		parts = append(parts, fmt.Sprintf("%d %s", t.phases[phase], phase))
	}
	return strings.Join(parts, ", ")
}
