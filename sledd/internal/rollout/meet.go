// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"maps"

	"github.com/sled-fleet/sled/sledd/api"
)

// Meeting is the relation of a requested rollout to a stored one.
type Meeting int

// The relations of a request to a stored rollout.
const (
	Apart     Meeting = iota // they have nothing to do with each other
	Resumes                  // it is the same one, which continues
	Conflicts                // nodes of it are in one that runs
	Replaces                 // nodes of it are in one that was stopped, and the desired state differs
)

// One is a rollout, with the MACs of its nodes.
type One struct {
	Kind string
	Spec api.RolloutSpec
	MACs []string
}

// Meet compares an existing rollout with a requested one. They are the same when only the nodes
// differ and all requested nodes are in the existing one: a repeated request leaves out the nodes
// that are done.
func Meet(there One, state api.RolloutState, asked One) Meeting {
	if state != api.RolloutRunning && state != api.RolloutStopped {
		return Apart
	}
	has := map[string]bool{}
	for _, address := range there.MACs {
		has[address] = true
	}
	shared := 0
	for _, address := range asked.MACs {
		if has[address] {
			shared++
		}
	}
	switch {
	case shared == 0:
		return Apart
	case shared == len(asked.MACs) && there.Kind == asked.Kind && same(there.Spec, asked.Spec):
		return Resumes
	case state == api.RolloutRunning:
		return Conflicts
	}
	return Replaces
}

func same(a, b api.RolloutSpec) bool {
	return a.Desired == b.Desired && a.Canary == b.Canary && a.Batch == b.Batch && a.FailureBudget == b.FailureBudget &&
		a.Pause == b.Pause &&
		a.Again == b.Again && maps.Equal(a.MaxUnavailable, b.MaxUnavailable)
}
