// SPDX-License-Identifier: Apache-2.0

package live

import "github.com/sled-fleet/sled/sledd/api"

// Verdict compares a node with its binding.
type Verdict int

// Verdicts.
const (
	Pending Verdict = iota
	Done
	Failed
)

// Judge compares the observed state with the binding. The state of an earlier generation decides nothing.
func Judge(n api.Node) Verdict {
	s := n.Status
	if n.Binding != nil {
		switch {
		case n.Binding.Satisfied:
			return Done
		case s.Phase == api.Failed && s.Generation == n.Binding.Generation:
			return Failed
		}
		return Pending
	}
	switch s.Phase {
	case api.Operational, api.Unconfirmed, api.Wiped, api.Captured:
		return Done
	case api.Failed:
		return Failed
	default:
		return Pending
	}
}
