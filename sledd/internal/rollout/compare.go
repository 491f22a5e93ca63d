// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"maps"

	"github.com/sled-fleet/sled/sledd/api"
)

// Relation is that of a requested rollout to a stored one.
type Relation int

// The relations of a request to a stored rollout.
const (
	Unrelated Relation = iota // no node is in both, or the stored one has ended
	Resumes                   // it is the same one, which continues
	Conflicts                 // nodes of it are in one that runs
	Replaces                  // nodes of it are in one that was stopped, and the desired state differs
)

// Identity is what tells rollouts apart: the MACs of the nodes, and what they get.
type Identity struct {
	Kind string
	Spec api.RolloutSpec
	MACs []string
}

// Compare relates a requested rollout to a stored one. They are the same when only the nodes differ and all requested
// nodes are in the stored one: a repeated request leaves out the nodes that are done.
func Compare(stored Identity, state api.RolloutState, requested Identity) Relation {
	if state != api.RolloutRunning && state != api.RolloutStopped {
		return Unrelated
	}
	has := map[string]bool{}
	for _, address := range stored.MACs {
		has[address] = true
	}
	shared := 0
	for _, address := range requested.MACs {
		if has[address] {
			shared++
		}
	}
	switch {
	case shared == 0:
		return Unrelated
	case shared == len(requested.MACs) && stored.Kind == requested.Kind && same(stored.Spec, requested.Spec):
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
