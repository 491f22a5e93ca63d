// SPDX-License-Identifier: Apache-2.0

package link

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

const (
	// lookupTime bounds one question to the kernel, which answers at once.
	lookupTime = 1 // seconds
	// known are the states of an entry that has a MAC.
	known = unix.NUD_REACHABLE | unix.NUD_STALE | unix.NUD_DELAY | unix.NUD_PROBE | unix.NUD_PERMANENT
	// macBytes is the length of a MAC. Links with longer addresses (InfiniBand) tell nothing about one.
	macBytes = 6
)

func init() { //nolint:gochecknoinits // the deadline of the library is a variable
	nl.SocketTimeoutTv = unix.Timeval{Sec: lookupTime}
}

// Kernel is the table of the kernel, for IPv4 and IPv6.
type Kernel struct{}

// Find implements Table.
func (Kernel) Find(address netip.Addr) ([]net.HardwareAddr, error) {
	indexes, err := linksOf(address)
	if err != nil {
		return nil, err
	}
	var found []net.HardwareAddr
	for _, index := range indexes {
		entry, err := neighbour(address.WithZone(""), index)
		if err != nil {
			return nil, err
		}
		if entry != nil && entry.State&known != 0 && len(entry.HardwareAddr) == macBytes {
			found = append(found, entry.HardwareAddr)
		}
	}
	return found, nil
}

// linksOf returns the interfaces on whose link an address can be. An address behind a router is on none.
func linksOf(address netip.Addr) ([]int, error) {
	if address.IsLinkLocalUnicast() && address.Is6() {
		return linksOfZone(address.Zone())
	}
	routes, err := netlink.RouteGet(address.AsSlice())
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	var indexes []int
	for _, route := range routes {
		if route.Gw == nil && route.Via == nil && route.Type == unix.RTN_UNICAST {
			indexes = append(indexes, route.LinkIndex)
		}
	}
	return indexes, nil
}

// linksOfZone returns the interface of a zone. Without one, as a web server in front names addresses, it is any.
func linksOfZone(zone string) ([]int, error) {
	if zone != "" {
		one, err := net.InterfaceByName(zone)
		if err != nil {
			return nil, err //nolint:wrapcheck // names it
		}
		return []int{one.Index}, nil
	}
	all, err := net.Interfaces()
	if err != nil {
		return nil, err //nolint:wrapcheck // complete
	}
	indexes := make([]int, len(all))
	for i, one := range all {
		indexes[i] = one.Index
	}
	return indexes, nil
}

// neighbour asks for one entry: a table may hold thousands. It returns nil if there is none.
func neighbour(address netip.Addr, index int) (*netlink.Neigh, error) {
	family := unix.AF_INET6
	if address.Is4() {
		family = unix.AF_INET
	}
	request := nl.NewNetlinkRequest(unix.RTM_GETNEIGH, 0)
	request.AddData(&netlink.Ndmsg{Family: uint8(family), Index: uint32(index)}) //nolint:gosec // the kernel's own
	request.AddData(nl.NewRtAttr(netlink.NDA_DST, address.AsSlice()))
	answers, err := request.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWNEIGH)
	if errors.Is(err, unix.ENOENT) || err == nil && len(answers) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("neighbour table of interface %d: %w", index, err)
	}
	entry, err := netlink.NeighDeserialize(answers[0])
	if err != nil {
		return nil, fmt.Errorf("neighbour table of interface %d: %w", index, err)
	}
	return entry, nil
}
