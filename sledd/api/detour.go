// SPDX-License-Identifier: Apache-2.0

package api

// Detour is what a node does beside its binding.
type Detour interface {
	// State is how far it is, as a sentence without the node's name.
	State() string
	// Login returns the address and the host key of the SSH server that the node runs meanwhile; zero: none.
	Login() (Address, HostKey)
}

// Detours are those of a node, of which at most one is shown; all nil: it has none.
type Detours struct {
	Rescue *Rescue  `json:"rescue,omitempty" doc:"Present while the node is under rescue; its binding is then not acted on"`
	Job    *NodeJob `json:"job,omitempty" doc:"Present while the node has a job; its binding is then not acted on"`
}

// Detour returns the one that is requested or entered; nil: there is none.
func (d Detours) Detour() Detour {
	switch {
	case d.Rescue != nil:
		return d.Rescue
	case d.Job != nil:
		return d.Job
	}
	return nil
}
