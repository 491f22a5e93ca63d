// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
)

// outcome of a node, as far as it is known.
type outcome int

const (
	pending outcome = iota
	ready
	failed // it does not become ready without intervention
)

// verdict on one node.
type verdict struct {
	outcome    outcome
	generation int64  // that it is ready with
	text       string // phase of one that is pending, reason of one that failed
	phase      string // for counting
}

// judge compares a node with the required generation; nil is a node that sledd does not know. The present binding
// counts: a newer generation replaces the required one.
func judge(node *api.Node, wanted int64) verdict {
	switch {
	case node == nil:
		return verdict{outcome: failed, phase: "unknown", text: "sledd does not know this node"}
	case node.Binding == nil:
		return verdict{outcome: failed, phase: "unbound", text: fmt.Sprintf("it has no binding any more "+
			"(generation %d is required)", wanted)}
	case node.Binding.Generation < wanted:
		return verdict{outcome: failed, phase: "outdated", text: fmt.Sprintf("generation %d is required, but its "+
			"binding has generation %d",
			wanted, node.Binding.Generation)}
	case node.Binding.Satisfied:
		return verdict{outcome: ready, phase: "ready", generation: node.Binding.Generation}
	}
	if len(node.WaitingClaims) > 0 {
		return unattended(*node)
	}
	v := unsatisfied(node.Status, node.Binding.Generation)
	if text := node.Wait.Hint(); text != "" && v.outcome == pending {
		v.text += ", " + text
	}
	return v
}

// unattended judges a node whose machine waits until an operator has admitted it. Its code is not printed: the operator
// types the one that was read on the console.
func unattended(node api.Node) verdict {
	name := node.Name
	if name == "" {
		name = node.MAC
	}
	return verdict{outcome: failed, phase: "not admitted", text: "a machine waits to be admitted as this node; type the " +
		"code that its console shows: sledctl admit " + name + " CODE"}
}

// unsatisfied judges by the observed status. A failure of an older generation does not count: the machine gets the
// newer one at its next boot.
func unsatisfied(status api.Status, requested int64) verdict {
	phase := string(status.Phase)
	if phase == "" {
		phase = "never seen"
	}
	switch {
	case status.Generation != requested:
		return verdict{phase: phase, text: fmt.Sprintf("%s (generation %d, requested %d)", phase, status.Generation,
			requested)}
	case status.Phase == api.Failed:
		return verdict{outcome: failed, phase: phase, text: reason(status)}
	}
	return verdict{phase: phase, text: phase}
}

// reason is why a step failed, as the node reported it.
func reason(status api.Status) string {
	text := status.Reason.String()
	if text == "" {
		text = "no reason was reported"
	}
	if status.Verb != "" {
		text = "step " + status.Verb + ": " + text
	}
	if status.Code != 0 {
		text += fmt.Sprintf(" (exit code %d)", status.Code)
	}
	return text
}
