// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// rollouts lists them, newest first.
func (w *Web) rollouts(ask ask) (page, error) {
	list, err := w.Rollouts.List(ask.Context())
	shown := page{Title: "Rollouts", View: "rollouts", Nav: "rollouts", Body: list.Items}
	for _, one := range list.Items {
		if one.State == api.RolloutRunning {
			shown.Refresh = refreshTime
		}
	}
	return shown, err
}

// rolloutView is one rollout.
type rolloutView struct {
	rollout.Summary
	Headline string
	Followed string // that nobody follows it
	Parts    []part
	Median   rollout.Figures
	Rows     []run
	Stages   []string
	Live     map[string]api.Node // nodes that run, as they are now
	Resume   string              // command
	Open     bool                // it has not ended
}

// resume is the command that resumes a rollout: that of its newest request, if that has one.
func resume(r api.Rollout) string {
	if len(r.Command) == 0 {
		return "ansible-playbook sled.fleet." + r.Kind
	}
	return wording.Shell(r.Command)
}

// run is a node of a rollout.
type run struct {
	api.NodeRun
	Lane lane
	Took string
}

// rollout shows one: its report, while it runs.
func (w *Web) rollout(ask ask) (page, error) {
	one, err := w.Rollouts.Get(ask.Context(), ask.PathValue("rollout"))
	if err != nil {
		return page{}, err
	}
	sum := rollout.Summarise(one, ask.Now)
	view := rolloutView{Summary: sum, Headline: wording.Headline(sum), Stages: api.Stages(), Live: map[string]api.Node{},
		Resume: resume(one), Open: unfinished(one)}
	if one.Silent > 0 {
		view.Followed = "It " + wording.Followed(one) + "."
	}
	for _, figures := range sum.Stages {
		if figures.Name == rollout.Total {
			view.Median = figures
		}
	}
	view.divide()
	view.place()
	running := map[string]bool{}
	for _, node := range one.Runs {
		if node.State == api.RunRunning {
			running[node.MAC] = true
		}
	}
	if len(running) > 0 {
		list, err := w.Fleet.Nodes(ask.Context(), fleet.Filter{Only: running, Limit: wholeFleet})
		if err != nil {
			return page{}, err
		}
		for _, node := range list.Items {
			view.Live[node.MAC] = node
		}
	}
	shown := page{Title: one.Name, View: "rollout", Nav: "rollouts", Body: view}
	if one.State == api.RolloutRunning {
		shown.Refresh = nodeRefresh
	}
	return shown, nil
}

// divide makes the bar of all nodes.
func (v *rolloutView) divide() {
	x, all := 0, max(1, len(v.Nodes))
	for _, one := range []part{{kind: kind{"failed", "failed"}, Nodes: v.Counts.Failed},
		{kind: kind{"good", "done"}, Nodes: v.Counts.Done}, {kind: kind{"work", "running"}, Nodes: v.Counts.Running},
		{kind: kind{"none", "waiting"}, Nodes: v.Counts.Waiting}} {
		one.X, one.Width = x*laneUnits/all, one.Nodes*laneUnits/all
		x += one.Nodes
		if one.Nodes > 0 {
			v.Parts = append(v.Parts, one)
		}
	}
}

// order of the rows: failures first, then what runs.
var order = []api.RunState{api.RunFailed, api.RunRunning, api.RunDone, api.RunWaiting}

// place makes the rows, on lanes of one scale.
func (v *rolloutView) place() {
	longest, scale := 0.0, float64(time.Minute/time.Second)
	for _, node := range v.Nodes {
		if node.State != api.RunWaiting {
			longest = max(longest, rollout.Took(node, v.AsOf()))
		}
	}
	for scale < longest { // in steps: otherwise each second would change each bar
		scale *= 1.25
	}
	for _, state := range order {
		for _, node := range v.Nodes {
			if node.State != state {
				continue
			}
			begin := node.Begin
			if len(node.Stages) > 0 && node.Stages[0].Begin.Before(begin) {
				begin = node.Stages[0].Begin
			}
			v.Rows = append(v.Rows, run{node, newLane(begin, node.Stages, scale), wording.RunTook(node, v.AsOf())})
		}
	}
}
