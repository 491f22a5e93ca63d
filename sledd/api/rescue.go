// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"time"
)

// RescueSpec requests the Sled system with an SSH server on a node. Until the rescue ends, the node receives no plan
// and its disks are not touched.
type RescueSpec struct {
	AuthorizedKeys []string `json:"authorized_keys" doc:"SSH public keys for root; at most 2,048 bytes in all" minItems:"1" maxItems:"32" nullable:"false" example:"[\"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice\"]"`
}

// Rescue is the requested rescue of a node, and how to log in.
type Rescue struct {
	RescueSpec
	Started     time.Time  `json:"started"`
	Entered     time.Time  `json:"entered,omitzero" doc:"When the node reported that its SSH server answers, or that it cannot run one"`
	Address     Address    `json:"address,omitzero"`
	HostKey     HostKey    `json:"host_key,omitzero" pattern:"^ssh-ed25519 [A-Za-z0-9+/]{68}$" doc:"In the format of known_hosts; new at each boot"`
	Fingerprint Identifier `json:"fingerprint,omitzero" doc:"Fingerprint of the host key, as printed by ssh"`
	Reason      Prose      `json:"reason,omitzero" doc:"Why the node could not run an SSH server"`
}

// State implements Detour.
func (r *Rescue) State() string {
	switch {
	case !r.Reason.IsZero():
		return "the rescue failed: " + r.Reason.String()
	case !r.Address.IsZero():
		return fmt.Sprintf("ssh root@%s  host key %s", r.Address.String(), r.Fingerprint.String())
	default:
		return "under rescue from its next boot on"
	}
}

// Login implements Detour.
func (r *Rescue) Login() (Address, HostKey) { return r.Address, r.HostKey }
