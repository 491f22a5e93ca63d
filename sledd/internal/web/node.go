// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	nodeEvents   = 50
	consoleBytes = 16 << 10
	nodeRefresh  = 5 // seconds, while it works
)

// nodeView is one node.
type nodeView struct {
	Node      api.Node
	Requested string
	Lane      lane
	Timeline  api.Timeline
	Disks     api.NodeDisks
	Admission api.Admission
	Events    []api.Event
	Log       api.Raw
	Console   nodetext.Raw
	Declared  []fact
	Facts     []fact
	Commands  []command
	Actions   []action
}

// action is a form about a node.
type action struct{ Path, Text string }

// actions are those that a node may need, the likeliest first.
func actions(n api.Node) []action {
	var list []action
	for _, one := range []struct {
		action
		offered bool
	}{
		{action{"accept", "Accept…"}, !n.Declared},
		{action{"admission", "Admit or refuse a claim…"}, len(n.WaitingClaims) > 0},
		{action{"alarms", "Acknowledge alarms…"}, len(n.Alarms) > 0},
		{action{"install", "Install an image…"}, unready(n) == ""},
		{action{"rescue", "Start a rescue…"}, n.Declared && n.Rescue == nil},
		{action{"rescue", "End the rescue…"}, n.Rescue != nil},
	} {
		if one.offered {
			list = append(list, one.action)
		}
	}
	return list
}

// fact is a row of two cells.
type fact struct{ Name, Value string }

// command is one to copy, and what it is for.
type command struct{ For, Text string }

// node shows one.
func (w *Web) node(ask ask) (page, error) {
	ctx, reference := ask.Context(), ask.PathValue("node")
	node, err := w.Fleet.Node(ctx, reference)
	if err != nil {
		return page{}, err
	}
	view := nodeView{Node: node, Declared: declared(node), Facts: facts(node.Facts), Commands: commands(node),
		Actions: actions(node)}
	if err := w.addHistory(ctx, &view); err != nil {
		return page{}, err
	}
	if view.Disks, err = w.Fleet.Disks(ctx, node.MAC, "", nil); err != nil && !explained(err) {
		return page{}, err
	}
	view.Requested = wording.Requested(node, view.Disks)
	if view.Admission, err = w.Fleet.Admission(ctx, node.MAC); err != nil {
		return page{}, err
	}
	shown := page{Title: wording.NodeName(node), View: "node", Nav: "nodes", Body: view}
	if wording.AtWork(node.Status.Phase) {
		shown.Refresh = nodeRefresh
	}
	return shown, nil
}

// explained reports whether an error only states that there is nothing to show.
func explained(err error) bool {
	return refusal.Is(err, refusal.NotFound) || refusal.Is(err, refusal.Invalid) || refusal.Is(err, refusal.Conflict)
}

// addHistory adds what happened to the node, and what it printed.
func (w *Web) addHistory(ctx context.Context, view *nodeView) error {
	list, err := w.Fleet.Events(ctx, view.Node.MAC, nodeEvents)
	if err != nil {
		return err
	}
	slices.Reverse(list.Items)
	view.Events = list.Items
	if view.Timeline, err = w.Fleet.Timeline(ctx, view.Node.MAC); err != nil {
		return err
	}
	view.Lane = newLane(view.Timeline.Begin, view.Timeline.Stages, view.Timeline.Total)
	if view.Log, err = w.Fleet.Logged(ctx, view.Node.MAC); err != nil && !explained(err) {
		return err
	}
	if w.Consoles != "" {
		// A console that nobody records, or that cannot be read, is left out: it is no state of the node.
		recorded, _ := w.Consoles.Tail(view.Node.MAC, consoleBytes)
		view.Console = nodetext.RawOf(recorded)
	}
	return nil
}

// declared lists the declaration of a node.
func declared(n api.Node) []fact {
	var list []fact
	for _, row := range wording.DeclaredNode(n) {
		list = append(list, fact{row[0], row[1]})
	}
	return filled(list)
}

// facts lists the hardware of a node, without its disks.
func facts(of *api.Facts) []fact {
	if of == nil {
		return nil
	}
	list := []fact{{"cpu", wording.Facts(of.CPU)}, {"memory", wording.Facts(of.Memory)},
		{"firmware", wording.Facts(of.Firmware)}, {"dmi", wording.Facts(of.DMI)}, {"kernel", wording.Facts(of.Kernel)}}
	for _, nic := range of.NICs {
		list = append(list, fact{"nic", wording.Facts(nic)})
	}
	return filled(list)
}

func filled(list []fact) []fact {
	return slices.DeleteFunc(list, func(one fact) bool { return one.Value == "" })
}

// commands are those that a node may need, the likeliest first.
func commands(n api.Node) []command {
	name := wording.NodeName(n)
	var list []command
	if len(n.WaitingClaims) > 0 {
		list = append(list, command{"admit the machine whose console shows the code",
			"sledctl admit " + name + " CODE"})
	}
	if len(n.Alarms) > 0 {
		list = append(list, command{"acknowledge its alarms", "sledctl ack " + name})
	}
	if !n.Declared {
		return append(list, command{"accept it", "sledctl node accept " + n.MAC + " --name NAME"})
	}
	return append(list, command{"image it", "ansible-playbook sled.fleet.reimage --limit " + name + " -e image=IMAGE"},
		command{"boot it into a rescue system", "sledctl rescue " + name},
		command{"follow it", "sledctl watch " + name})
}
