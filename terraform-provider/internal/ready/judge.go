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
	failed // it does not become ready unless somebody does something
)

// verdict is what is said of one node.
type verdict struct {
	outcome    outcome
	generation int64  // that it is ready with
	text       string // phase of one that is pending, reason of one that failed
	phase      string // for counting
}

// judge says how a node stands to the generation that is wanted of it; nil is one that sledd does not know. What counts is the wish as it
// is now: a newer one takes the place of the wanted one.
func judge(node *api.Node, wanted int64) verdict {
	switch {
	case node == nil:
		return verdict{outcome: failed, phase: "unknown", text: "sledd does not know this node"}
	case node.Binding == nil:
		return verdict{outcome: failed, phase: "unbound", text: fmt.Sprintf("nothing is wished for it any more (generation %d is wanted)", wanted)}
	case node.Binding.Generation < wanted:
		return verdict{outcome: failed, phase: "unwished", text: fmt.Sprintf("generation %d is wanted, but its binding has generation %d",
			wanted, node.Binding.Generation)}
	case node.Binding.Satisfied:
		return verdict{outcome: ready, phase: "ready", generation: node.Binding.Generation}
	}
	return unsatisfied(node.Status, node.Binding.Generation)
}

// unsatisfied judges by what was observed. A failure of an older generation is none: the machine gets the newer one when it boots.
func unsatisfied(status api.Status, wished int64) verdict {
	phase := string(status.Phase)
	if phase == "" {
		phase = "never seen"
	}
	switch {
	case status.Generation != wished:
		return verdict{phase: phase, text: fmt.Sprintf("%s (generation %d, wished %d)", phase, status.Generation, wished)}
	case status.Phase == api.Failed:
		return verdict{outcome: failed, phase: phase, text: reason(status)}
	}
	return verdict{phase: phase, text: phase}
}

// reason is why a step failed, in the node's own words.
func reason(status api.Status) string {
	text := status.Reason
	if text == "" {
		text = "it gave no reason"
	}
	if status.Verb != "" {
		text = "step " + status.Verb + ": " + text
	}
	if status.Code != 0 {
		text += fmt.Sprintf(" (exit code %d)", status.Code)
	}
	return text
}
