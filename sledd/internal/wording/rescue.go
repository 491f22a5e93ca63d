// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
)

// Rescue returns the login to a node under rescue, or the state of its rescue.
func Rescue(n api.Node) string {
	state := "not under rescue"
	if n.Rescue != nil {
		state = rescue(n.Rescue)
	}
	return NodeName(n) + ": " + state
}

func rescue(r *api.Rescue) string {
	switch {
	case !r.Reason.IsZero():
		return "the rescue failed: " + r.Reason.String()
	case !r.Address.IsZero():
		return fmt.Sprintf("ssh root@%s  host key %s", r.Address.String(), r.Fingerprint.String())
	default:
		return "under rescue from its next boot on"
	}
}
