// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// halls is a summary of this many racks; every third has failures.
func halls(racks int) api.Summary {
	sum := api.Summary{By: "label:rack"}
	for i := range racks {
		group := api.SummaryGroup{Value: fmt.Sprintf("hall-b-row-07-rack-%03d", i)}
		for k := range 40 {
			phase := api.Operational
			if i%3 == 2 && k < i/3+1 {
				phase = api.Failed
			} else if k == 39 {
				phase = api.Phases()[i%len(api.Phases())]
			}
			group.Add(phase, phase != api.Operational, phase.Working() && i%5 == 0)
			sum.Total.Add(phase, phase != api.Operational, phase.Working() && i%5 == 0)
		}
		sum.Groups = append(sum.Groups, group)
	}
	return sum
}

func TestSummaryFitsTheTerminal(t *testing.T) {
	small := double(t, map[string]any{"/v1/summary": halls(12)})
	large := double(t, map[string]any{"/v1/summary": halls(90)})
	for _, width := range ctltest.Widths {
		got := run(t.Context(), small, "", ctltest.Terminal(width), "status", "--by", "rack")
		ctltest.CheckWidth(t, "status --by rack", got.out, width)
		if width == ctltest.GoldenWidth {
			ctltest.Golden(t, "status-by", got.out)
		}
		got = run(t.Context(), large, "", ctltest.Terminal(width), "status", "--by", "rack")
		ctltest.CheckWidth(t, "status --by rack", got.out, width)
		if lines := strings.Count(got.out, "\n"); lines > 60 || !strings.Contains(got.out, "40 more groups") ||
			strings.Index(got.out, "rack-089") > strings.Index(got.out, "rack-002") {
			t.Errorf("%d lines, the worst first, want at most 60:\n%s", lines, got.out)
		}
	}
	if got := sledctl(t, large, "", "status", "--by", "rack"); strings.Count(got.out, "\n") != 92 {
		t.Errorf("a pipe gets all of 90 groups:\n%s", got.out)
	}
}

func TestStatusOfParts(t *testing.T) {
	s := imaged(t, 3)
	s.does(exitDone, "bind n2 --image d13", "")
	fail(s.Machine(2))
	s.does(exitDone, "bind n3 --image d13", "")
	for line, want := range map[string][]string{"status --failed": {"n2"}, "status --drift": {"n2", "n3"},
		"node list --failed": {"n2"}, "node list --drift --phase failed": {"n2"}, "binding list --drift": {"n2", "n3"}} {
		got := s.does(exitDone, line, "").out
		for _, name := range []string{"n1", "n2", "n3"} {
			shown, wanted := strings.Contains(got, "\n"+name+" "), strings.Contains(strings.Join(want, " "), name)
			if shown != wanted {
				t.Errorf("%s: %s is shown: %v\n%s", line, name, shown, got)
			}
		}
	}
	for by, want := range map[string]string{"rack": "a     3      2            -        -        1       2",
		"label:rack": "RACK", "image": "d12",
		"phase": "operational", "model": "MODEL", "role": "ROLE"} {
		s.does(exitDone, "status --by "+by, want)
	}
	s.does(exitDone, "status --by rack --failed -o json", `"by": "label:rack"`)
	s.does(exitUsage, "status n1 --failed", "NODE excludes --by, --failed, --drift, --overdue and --sort")
	s.does(exitDone, "status --failed --phase operational", "n1")
	s.does(exitUsage, "status --by rack --sort name", "--by excludes --sort")
	s.does(exitUsage, "node list --sort size", "expected one of name, phase, image, since, urgency or label:KEY")
	for sort, want := range map[string]string{"name": "n1\nn2\nn3\n", "-name": "n3\nn2\nn1\n", "urgency": "n2\nn3\nn1\n",
		"label:rack": "n1\nn2\nn3\n"} {
		for _, command := range []string{"node list", "status"} {
			if got := s.does(exitDone, command+" -o name --sort="+sort, "").out; got != want {
				t.Errorf("%s --sort=%s: %q, want %q", command, sort, got, want)
			}
		}
	}
}

// The status of a large fleet is one screen, the urgent nodes first; whole in a pipe and with -o wide.
func TestStatusOfALargeFleet(t *testing.T) {
	nodes := make([]api.Node, 10_000)
	for i := range nodes {
		nodes[i] = ctltest.Bound(ctltest.Node(i, api.Operational, time.Hour), "debian-12-v1", 2)
		nodes[i].Name = fmt.Sprintf("node-%05d", i)
	}
	nodes[9998].Binding.Generation, nodes[9998].Binding.Satisfied = 3, false
	nodes[9999].Status.Phase, nodes[9999].Status.Code = api.Failed, 5
	answer := func(w http.ResponseWriter, r *http.Request) {
		list := nodes
		if r.URL.Query().Get("sort") == api.SortUrgency {
			list = slices.SortedStableFunc(slices.Values(nodes), func(x, y api.Node) int { return x.Urgency() - y.Urgency() })
			list = list[:show.Screenful]
		}
		_ = json.NewEncoder(w).Encode(api.NodeList{Items: list})
	}
	server := double(t, map[string]any{"/v1/nodes": http.HandlerFunc(answer), "/v1/summary": summed(nodes)})
	got := run(t.Context(), server, "", ctltest.Terminal(80), "status")
	ctltest.CheckWidth(t, "status", got.out, 80)
	lines := strings.Split(got.out, "\n")
	if len(lines) > 60 || !strings.HasPrefix(lines[1], "node-09999 ") || !strings.HasPrefix(lines[2], "node-09998 ") ||
		!strings.HasPrefix(lines[3], "node-00000 ") || !strings.Contains(got.out, "(9960 more nodes are not shown;") ||
		!strings.Contains(got.out, "10000 nodes: 9999 operational, 1 failed") || got.err != "" {
		t.Errorf("%d lines:\n%s%s", len(lines), got.out, got.err)
	}
	for name, whole := range map[string]ran{
		"a pipe":  sledctl(t, server, "", "status"),
		"-o wide": run(t.Context(), server, "", ctltest.Terminal(80), "status", "-o", "wide"),
	} {
		if n := strings.Count(whole.out, "\nnode-"); n != 10_000 || !strings.Contains(whole.err, "sledctl log node-09999") {
			t.Errorf("%s: %d nodes, hints %q", name, n, whole.err)
		}
	}
}
