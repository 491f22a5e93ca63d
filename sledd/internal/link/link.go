// SPDX-License-Identifier: Apache-2.0

// Package link asks the kernel which MAC an address belongs to on the link, so that a machine with another MAC than the
// one that it claims is recognised.
package link

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// Table is the neighbour table of this machine.
type Table interface {
	// Find returns the MACs that an address has on the links of this machine: none if it is behind a router.
	Find(address netip.Addr) ([]net.HardwareAddr, error)
}

// Check compares the MACs that a machine claims with the one that its address belongs to. other is that MAC if it is
// none of them. With an error, or an address that is not on a link, nothing is known.
func Check(table Table, address netip.Addr, claimed []string) (link admission.Link, other string, err error) {
	if table == nil || !address.IsValid() || address.IsLoopback() {
		return admission.LinkUnknown, "", nil
	}
	found, err := table.Find(address)
	if err != nil {
		return admission.LinkUnknown, "", fmt.Errorf("neighbour %s: %w", address, err)
	}
	for _, one := range found {
		if slices.Contains(claimed, one.String()) {
			return admission.LinkSame, "", nil
		}
		other = one.String()
	}
	if other == "" {
		return admission.LinkUnknown, "", nil
	}
	return admission.LinkOther, other, nil
}
