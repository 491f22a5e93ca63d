// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// severalNodes is how many nodes an error names.
const severalNodes = 20

// wish is what has to come true: nodes, by MAC or name, with the generation that each is to reach.
type wish struct {
	nodes    map[string]int64
	need     int  // so many of them
	failFast bool // give up when so many failed that the others are not enough
}

// tally is how all nodes stand.
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
func (w wish) count(found map[string]*api.Node) tally {
	t := newTally()
	for name, generation := range w.nodes {
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

// unread is the tally of nodes that nothing is known of yet.
func (w wish) unread() tally {
	t := newTally()
	for name := range w.nodes {
		t.pending[name] = "not read yet"
		t.phases["not read yet"]++
	}
	return t
}

// met says whether enough nodes are ready.
func (w wish) met(t tally) bool { return len(t.ready) >= w.need }

// hopeless says whether waiting longer is of no use.
func (w wish) hopeless(t tally) bool {
	return len(t.pending) == 0 || w.failFast && len(w.nodes)-len(t.failed) < w.need
}

// others lists the nodes that are not ready, those that failed first.
func (t tally) others() string {
	lines := make([]string, 0, len(t.failed)+len(t.pending))
	for _, name := range slices.Sorted(maps.Keys(t.failed)) {
		lines = append(lines, "  "+name+": failed: "+t.failed[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.pending)) {
		lines = append(lines, "  "+name+": "+t.pending[name])
	}
	if more := len(lines) - severalNodes; more > 0 {
		lines = append(lines[:severalNodes], fmt.Sprintf("  and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// counts is how many nodes are in each phase.
func (t tally) counts() string {
	var parts []string
	for _, phase := range slices.Sorted(maps.Keys(t.phases)) {
		parts = append(parts, fmt.Sprintf("%d %s", t.phases[phase], phase))
	}
	return strings.Join(parts, ", ")
}
