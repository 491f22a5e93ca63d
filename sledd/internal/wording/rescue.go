// SPDX-License-Identifier: Apache-2.0

package wording

import "github.com/sled-fleet/sled/sledd/api"

// Rescue returns the login to a node under rescue, or the state of its rescue.
func Rescue(n api.Node) string {
	state := "not under rescue"
	if n.Rescue != nil {
		state = n.Rescue.State()
	}
	return NodeName(n) + ": " + state
}
