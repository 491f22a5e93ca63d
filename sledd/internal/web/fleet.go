// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	refreshTime  = 15 // seconds
	wholeFleet   = 20_000
	newestEvents = 8
	mostLabels   = 8
	urgentRows   = 10
	listed       = 4 // of a list beside the table
)

// fleetView is the first page.
type fleetView struct {
	Headline string
	Parts    []part
	Groups   []group
	By       string   // the label that groups the grid
	Labels   []string // others that could
	Urgent   []*api.Node
	Urgents  int // with those that are not listed
	Nodes    int
	Rollouts []api.Rollout // that have not ended
	Waiting  waiting
	Events   []api.Event
}

// waiting are machines that wait for an operator.
type waiting struct {
	Found  []api.Node
	Claims []api.Admission
	Alarms []api.Node

	MoreFound, MoreAlarms int // that are not listed
}

// Any reports whether there are any.
func (w waiting) Any() bool { return len(w.Found)+len(w.Claims)+len(w.Alarms) > 0 }

// group is the nodes with one value of a label.
type group struct {
	Value string
	Nodes []*api.Node
	api.SummaryCount
}

// Note counts what is urgent in the group; nil: nothing is.
func (g group) Note() *kind {
	working := 0
	for _, node := range g.Nodes {
		if wording.AtWork(node.Status.Phase) {
			working++
		}
	}
	switch failed := g.Phases[string(api.Failed)]; {
	case failed > 0:
		return &kind{"failed", wording.Count(failed) + " failed"}
	case g.Overdue > 0:
		return &kind{"failed", wording.Count(g.Overdue) + " overdue"}
	case working > 0:
		return &kind{"work", wording.Count(working) + " at work"}
	}
	return nil
}

// fleet shows everything in five seconds.
func (w *Web) fleet(ask ask) (page, error) {
	ctx := ask.Context()
	list, err := w.Fleet.Nodes(ctx, fleet.Filter{Limit: wholeFleet, Sort: api.SortName})
	if err != nil {
		return page{}, err
	}
	view := fleetView{Nodes: len(list.Items)}
	var count api.SummaryCount
	for _, node := range list.Items {
		add(&count, node)
		view.Waiting.add(node)
	}
	view.Headline, view.Parts = wording.Fleet(count), parts(count)
	if err := view.group(list.Items, ask.Query.Get("by")); err != nil {
		return page{}, err
	}
	view.urgent(list.Items)
	err = cmp.Or(w.addRollouts(ctx, &view), w.addWaiting(ctx, &view))
	if err != nil {
		return page{}, err
	}
	view.Events, err = w.newest(ctx, api.EventFilter{Limit: newestEvents})
	return page{Title: "Fleet", View: "fleet", Nav: "fleet", Refresh: refreshTime, Body: view}, err
}

// add counts a node.
func add(count *api.SummaryCount, n api.Node) {
	count.Add(n.Status.Phase, n.Binding != nil && !n.Binding.Satisfied, n.Overdue > 0)
}

func (w *waiting) add(n api.Node) {
	if !n.Declared && n.Status.Phase == api.Discovered {
		if len(w.Found) < listed {
			w.Found = append(w.Found, n)
		} else {
			w.MoreFound++
		}
	}
	if len(n.Alarms) > 0 {
		if len(w.Alarms) < listed {
			w.Alarms = append(w.Alarms, n)
		} else {
			w.MoreAlarms++
		}
	}
}

// Cells are those of a group as HTML. A template takes several times as long for ten thousand of them.
func (g group) Cells() template.HTML {
	var text strings.Builder
	for _, node := range g.Nodes {
		_, _ = fmt.Fprintf(&text, `<a class="%s" href="/ui/nodes/%s" title="%s: %s" tabindex="-1"></a>`, cellClass(*node),
			template.HTMLEscapeString(node.MAC), template.HTMLEscapeString(wording.NodeName(*node)),
			template.HTMLEscapeString(wording.Phase(node.Status.Phase)))
	}
	return template.HTML(text.String()) //nolint:gosec // each part is escaped
}

// cells are those of the grid.
func (v fleetView) cells() map[string]cell {
	list := make(map[string]cell, v.Nodes)
	for _, group := range v.Groups {
		for _, node := range group.Nodes {
			list[node.MAC] = cell{cellClass(*node), wording.Phase(node.Status.Phase)}
		}
	}
	return list
}

// cellClass is the phase of a node, that it is overdue, and how far it is.
func cellClass(n api.Node) string {
	class := "p-" + kindOf(n.Status.Phase)
	if n.Overdue > 0 {
		class += " late"
	}
	if done := percent(n.Status); done >= 0 {
		class += " d" + strconv.FormatInt(done/10, 10)
	}
	return class
}

// Places identifies the order of the cells: a browser reads the page again when it changes.
func (v fleetView) Places() string {
	sum := fnv.New64a()
	for _, group := range v.Groups {
		_, _ = io.WriteString(sum, group.Value+"\n")
		for _, node := range group.Nodes {
			_, _ = io.WriteString(sum, node.MAC+" "+node.Name+"\n")
		}
	}
	return strconv.FormatUint(sum.Sum64(), 16)
}

// group divides nodes by a label: the one that is requested, else rack, else the one that most nodes have.
func (v *fleetView) group(nodes []api.Node, by string) error {
	having := map[string]int{}
	for _, node := range nodes {
		for name := range node.Labels {
			having[name]++
		}
	}
	if by != "" && having[by] == 0 {
		return refusal.New(refusal.Invalid, "no node has a label %q", by)
	}
	v.Labels = slices.SortedFunc(maps.Keys(having), func(a, b string) int {
		return cmp.Or(cmp.Compare(having[b], having[a]), cmp.Compare(a, b))
	})
	v.By = by
	if v.By == "" && having["rack"] > 0 {
		v.By = "rack"
	} else if v.By == "" && len(v.Labels) > 0 {
		v.By = v.Labels[0]
	}
	v.Labels = v.Labels[:min(len(v.Labels), mostLabels)]
	groups := map[string]*group{}
	for i := range nodes {
		node := &nodes[i]
		value := node.Labels[v.By]
		if groups[value] == nil {
			groups[value] = &group{Value: value}
		}
		groups[value].Nodes = append(groups[value].Nodes, node)
		add(&groups[value].SummaryCount, *node)
	}
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		v.Groups = append(v.Groups, *groups[value])
	}
	return nil
}

// urgent lists the nodes that do not have what is requested, as sledctl status --sort urgency does.
func (v *fleetView) urgent(nodes []api.Node) {
	for i := range nodes {
		if node := &nodes[i]; node.Urgency() < calm || wording.AtWork(node.Status.Phase) {
			v.Urgent = append(v.Urgent, node)
		}
	}
	slices.SortStableFunc(v.Urgent, func(a, b *api.Node) int { return cmp.Compare(rank(*a), rank(*b)) })
	v.Urgents = len(v.Urgent)
	v.Urgent = v.Urgent[:min(len(v.Urgent), urgentRows)]
}

// calm is the urgency of a node about which nothing is to be done.
const calm = 3

// rank orders the table: by urgency, and what works before what only waits for its boot.
func rank(n api.Node) int {
	at := 2 * n.Urgency()
	if !wording.AtWork(n.Status.Phase) {
		at++
	}
	return at
}

func (w *Web) addRollouts(ctx context.Context, view *fleetView) error {
	list, err := w.Rollouts.List(ctx)
	for _, one := range list.Items {
		if one.State == api.RolloutRunning || one.State == api.RolloutStopped {
			view.Rollouts = append(view.Rollouts, one)
		}
	}
	view.Rollouts = view.Rollouts[:min(len(view.Rollouts), listed)]
	return err
}

func (w *Web) addWaiting(ctx context.Context, view *fleetView) error {
	list, err := w.Fleet.Claims(ctx)
	view.Waiting.Claims = list.Items[:min(len(list.Items), listed)]
	return err
}

// newest returns the newest events, newest first.
func (w *Web) newest(ctx context.Context, filter api.EventFilter) ([]api.Event, error) {
	list, err := w.Hub.Newest(ctx, filter)
	slices.Reverse(list)
	return list, err
}
