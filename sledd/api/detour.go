// SPDX-License-Identifier: Apache-2.0

package api

// Detour is what a node does beside its binding.
type Detour interface {
	// Login returns the address and the host key of the SSH server that the node runs meanwhile; zero: none.
	Login() (Address, HostKey)
}

// Detour returns that of the node, requested or entered; nil: it has none.
func (n Node) Detour() Detour {
	if n.Rescue != nil {
		return n.Rescue
	}
	return nil
}

// Login implements Detour.
func (r *Rescue) Login() (Address, HostKey) { return r.Address, r.HostKey }
