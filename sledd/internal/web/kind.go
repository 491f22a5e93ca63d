// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// kind is what phases have in common, in the order of urgency: a colour, a sign and a place in the bar.
type kind struct {
	Name string // class of the style sheet, which has the sign
	Text string
}

var kinds = []kind{{"failed", "failed"}, {"work", "at work"}, {"found", "discovered"}, {"rescue", "under rescue"},
	{"wait", "waiting"}, {"open", "unconfirmed"}, {"good", "operational"}, {"none", "not seen yet"}}

var kindsOfPhases = map[api.Phase]string{"": "none", api.Failed: "failed", api.Discovered: "found",
	api.UnderRescue: "rescue", api.Operational: "good", api.Unconfirmed: "open"}

// kindOf returns the name of the kind of a phase.
func kindOf(phase api.Phase) string {
	if wording.AtWork(phase) {
		return "work"
	}
	return cmp.Or(kindsOfPhases[phase], "wait")
}

// part of the bar of a fleet.
type part struct {
	kind
	Nodes    int
	X, Width int // in thousandths
	Query    string
}

// parts divides a bar among the kinds of a number of nodes. A kind with any node is seen.
func parts(count api.SummaryCount) []part {
	nodes, queries := map[string]int{}, map[string]string{}
	for _, phase := range append(api.Phases(), "") {
		of := kindOf(phase)
		if phase == "" {
			nodes[of] += count.Phases[api.Unseen]
			continue
		}
		nodes[of] += count.Phases[string(phase)]
		queries[of] += "&phase=" + string(phase)
	}
	var list []part
	x := 0
	for _, one := range kinds {
		if nodes[one.Name] == 0 {
			continue
		}
		p := part{kind: one, Nodes: nodes[one.Name], X: x, Width: max(6, nodes[one.Name]*1000/count.Nodes)}
		if query := queries[one.Name]; query != "" {
			p.Query = query[1:]
		}
		x += p.Width
		list = append(list, p)
	}
	for i := range list { // the least widths add up
		list[i].X, list[i].Width = list[i].X*1000/x, list[i].Width*1000/x
	}
	return list
}

// percent of the running step; -1: not known.
func percent(s api.Status) int64 {
	if !s.Phase.Working() || s.Progress == nil || s.Progress.Total <= 0 {
		return -1
	}
	return wording.Percent(s.Progress)
}
