// SPDX-License-Identifier: Apache-2.0

// Package live shows nodes and rollouts while they change.
package live

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// Rollout returns the function that shows a rollout and its running nodes, on a terminal or in another output.
func Rollout(p show.Printer) func(r api.Rollout, nodes []api.Node, trouble error) {
	if p.Screen.Terminal {
		return (&rolloutLive{liveView: liveView{Printer: p, begin: p.Now()}}).show
	}
	return (&rolloutLines{Printer: p, states: map[string]api.RunState{}}).show
}

// View shows the nodes of a watch.
type View interface {
	Draw(nodes []api.Node, trouble error)
	End()
}

// Nodes returns the view of nodes for a terminal, or for another output.
func Nodes(p show.Printer) View {
	if p.Screen.Terminal {
		return &liveView{Printer: p, begin: p.Now()}
	}
	return &lineView{Printer: p, last: map[string]string{}}
}
