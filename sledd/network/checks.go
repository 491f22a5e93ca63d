// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

const (
	usualMTU = 1500
	leastMTU = 1280 // of IPv6
)

// kind of interfaces, as the document names it.
type kind struct {
	name    string
	devices map[string]device
}

func (d *document) kinds() []kind {
	return []kind{{"ethernets", d.Ethernets}, {"bonds", d.Bonds}, {"vlans", d.VLANs}, {"bridges", d.Bridges}}
}

// checker goes through a document.
type checker struct {
	document *document
	paths    map[string]string // of each interface, by name
	members  map[string]string // of bonds and bridges, and what has them
	seen     map[string]string // what may be in the document once, and where it is
}

func (d *document) check() error {
	c := &checker{document: d, paths: map[string]string{}, members: map[string]string{}, seen: map[string]string{}}
	steps := []func(path, name string, one device) error{c.name, c.below, c.sizes, c.protocols, c.addresses, c.routes,
		c.servers}
	for _, step := range steps {
		for _, kind := range d.kinds() {
			for _, name := range slices.Sorted(maps.Keys(kind.devices)) {
				if err := step("network."+kind.name+"."+name, name, kind.devices[name]); err != nil {
					return err
				}
			}
		}
	}
	return c.loops()
}

// once refuses a second one of what.
func (c *checker) once(path, what string) error {
	if before, found := c.seen[what]; found {
		return fault(path, "%s is in %s already", what, before)
	}
	c.seen[what] = path
	return nil
}

func (c *checker) name(path, name string, one device) error {
	if before, found := c.paths[name]; found {
		return fault(path, "%s has the same name", before)
	}
	c.paths[name] = path
	if one.SetName != "" && one.SetName != name {
		return fault(path+".set-name", "%s, want %s, the key of the interface, or none", one.SetName, name)
	}
	if one.Match.MAC == "" {
		return nil
	}
	return c.once(path+".match.macaddress", "MAC "+one.Match.MAC)
}

// below checks what an interface is made of.
func (c *checker) below(path, name string, one device) error {
	_, isBond := c.document.Bonds[name]
	_, isVLAN := c.document.VLANs[name]
	if isVLAN {
		return c.vlan(path, one)
	}
	for _, member := range one.Interfaces {
		if err := c.member(path+".interfaces", name, member, isBond); err != nil {
			return err
		}
	}
	if isBond {
		return c.bond(path, one)
	}
	return nil
}

func (c *checker) member(path, name, member string, ofBond bool) error {
	if c.paths[member] == "" || member == name {
		return fault(path, "%s is no other interface of this document", member)
	}
	if _, ethernet := c.document.Ethernets[member]; ofBond && !ethernet {
		return fault(path, "%s is not in network.ethernets: a bond has hardware as ports", member)
	}
	if _, bridge := c.document.Bridges[member]; bridge {
		return fault(path, "%s is a bridge, which cannot be a port of another", member)
	}
	if before := c.members[member]; before != "" {
		return fault(path, "%s is a port of %s already", member, before)
	}
	c.members[member] = name
	return nil
}

func (c *checker) bond(path string, one device) error {
	parameters, mode := one.Parameters, one.Parameters.Mode
	path += ".parameters"
	switch {
	case parameters.LACPRate != "" && mode != "802.3ad":
		return fault(path+".lacp-rate", "has an effect in mode 802.3ad alone, and mode is %s", mode)
	case parameters.MinLinks > int64(len(one.Interfaces)):
		return fault(path+".min-links", "%d, and the bond has %d", parameters.MinLinks, len(one.Interfaces))
	case parameters.MinLinks > 0 && mode != "802.3ad":
		return fault(path+".min-links", "has an effect in mode 802.3ad alone, and mode is %s", mode)
	case parameters.Hash != "" && !slices.Contains([]string{"balance-xor", "802.3ad", "balance-tlb", "balance-alb"}, mode):
		return fault(path+".transmit-hash-policy", "has no effect in mode %s", mode)
	case parameters.Primary == "":
		return nil
	case !slices.Contains([]string{"active-backup", "balance-tlb", "balance-alb"}, mode):
		return fault(path+".primary", "has no effect in mode %s", mode)
	case !slices.Contains(one.Interfaces, parameters.Primary):
		return fault(path+".primary", "%s is no port of this bond", parameters.Primary)
	case c.document.Ethernets[parameters.Primary].SetName == "":
		return fault(path+".primary", "%s has the name that the image finds for it: want set-name there", parameters.Primary)
	}
	return nil
}

func (c *checker) vlan(path string, one device) error {
	_, found := c.device(one.Link)
	if _, vlan := c.document.VLANs[one.Link]; !found || vlan {
		return fault(path+".link", "%s is no ethernet, bond or bridge of this document", one.Link)
	}
	return c.once(path+".id", fmt.Sprintf("VLAN %d of %s", one.ID, one.Link))
}

func (c *checker) device(name string) (device, bool) {
	for _, kind := range c.document.kinds() {
		if one, found := kind.devices[name]; found {
			return one, true
		}
	}
	return device{}, false
}

func mtuOf(one device) int64 {
	if one.MTU == 0 {
		return usualMTU
	}
	return one.MTU
}

// sizes checks that what an interface is made of carries its packets. A bond sets the MTU of its ports itself.
func (c *checker) sizes(path, name string, one device) error {
	below := []string{one.Link}
	if _, bridge := c.document.Bridges[name]; bridge {
		below = one.Interfaces
	}
	for _, other := range below {
		if lower, found := c.device(other); found && one.MTU > mtuOf(lower) {
			return fault(path+".mtu", "%d, more than that of %s, which is %d", one.MTU, other, mtuOf(lower))
		}
	}
	if owner, bonded := c.document.Bonds[c.members[name]]; bonded && one.MTU != 0 && one.MTU != mtuOf(owner) {
		return fault(path+".mtu", "%d, and the bond %s sets %d: set it there", one.MTU, c.members[name], mtuOf(owner))
	}
	return nil
}

// protocols checks who has a separate network, and what has an effect only with DHCP.
func (c *checker) protocols(path, name string, one device) error {
	owner := c.members[name]
	own := one.DHCP4 || one.DHCP6 || one.AcceptRA != nil || len(one.Addresses)+len(one.Routes) > 0 ||
		len(one.DNS.Addresses)+len(one.DNS.Search) > 0
	switch {
	case owner != "" && own:
		return fault(path, "is a port of %s: addresses, routes, DHCP, accept-ra and nameservers belong there", owner)
	case one.Overrides4 != nil && !one.DHCP4:
		return fault(path+".dhcp4-overrides", "has an effect with dhcp4: true alone")
	case one.Overrides6 != nil && !one.DHCP6:
		return fault(path+".dhcp6-overrides", "has an effect with dhcp6: true alone")
	case one.DHCP4 && one.DHCP6 && fmt.Sprint(one.Overrides4) != fmt.Sprint(one.Overrides6):
		return fault(path+".dhcp6-overrides", "differs from dhcp4-overrides: systemd-networkd has one for both")
	case one.DHCP6 && one.AcceptRA != nil:
		return fault(path+".accept-ra", "false: without router advertisements there is no DHCPv6")
	case one.MTU != 0 && one.MTU < leastMTU && (one.six()):
		return fault(path+".mtu", "%d: IPv6 needs %d", one.MTU, leastMTU)
	}
	return nil
}

// routed reports whether routers configure IPv6 of the interface.
func (one device) routed() bool { return one.DHCP6 || one.AcceptRA != nil && *one.AcceptRA }

// six reports whether the interface has IPv6 beside its link-local address, and four whether it has IPv4.
func (one device) six() bool { return one.routed() || slices.ContainsFunc(one.Addresses, isSix) }

func (one device) four() bool {
	return one.DHCP4 || slices.ContainsFunc(one.Addresses, func(text string) bool { return !isSix(text) })
}

func isSix(text string) bool { return strings.Contains(text, ":") }

func (c *checker) addresses(path, _ string, one device) error {
	for i, text := range one.Addresses {
		at, prefix := fmt.Sprintf("%s.addresses[%d]", path, i), netip.MustParsePrefix(text)
		if err := c.once(at, "address "+prefix.Addr().String()); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) routes(path, _ string, one device) error {
	for i, r := range one.Routes {
		at, via := fmt.Sprintf("%s.routes[%d]", path, i), netip.MustParseAddr(r.Via)
		if before, own := c.seen["address "+r.Via]; own {
			return fault(at, "via %s, which is an address of this machine (%s)", r.Via, before)
		}
		if via.Is4() && !one.four() || via.Is6() && !one.six() {
			return fault(at, "via %s, and the interface has no address of that family", r.Via)
		}
		if !r.OnLink && !one.reaches(via) {
			return fault(at, "via %s, which is in no network of this interface; if it is there: on-link: true", r.Via)
		}
		if err := c.once(at, fmt.Sprintf("a route to %s with metric %d", r.To, r.Metric)); err != nil {
			return err
		}
	}
	return nil
}

// reaches reports whether the interface may have the address as a neighbour. What DHCP brings is not known.
func (one device) reaches(via netip.Addr) bool {
	if via.Is4() && one.DHCP4 || via.Is6() && (one.routed() || via.IsLinkLocalUnicast()) {
		return true
	}
	return slices.ContainsFunc(one.Addresses, func(text string) bool {
		return netip.MustParsePrefix(text).Contains(via)
	})
}

// servers checks that the interface can ask its name servers.
func (c *checker) servers(path, _ string, one device) error {
	for i, text := range one.DNS.Addresses {
		if isSix(text) && !one.six() || !isSix(text) && !one.four() {
			return fault(fmt.Sprintf("%s.nameservers.addresses[%d]", path, i),
				"%s, and the interface has no address of that family", text)
		}
	}
	if len(one.DNS.Search) > 0 && !one.four() && !one.six() {
		return fault(path+".nameservers.search", "has no effect: the interface has no address")
	}
	return nil
}

// loops refuses interfaces that are made of themselves, such as a bridge with a VLAN on it as its port.
func (c *checker) loops() error {
	for _, name := range slices.Sorted(maps.Keys(c.document.VLANs)) {
		link := c.document.VLANs[name].Link
		if owner := c.members[name]; owner != "" && (owner == link || owner == c.members[link]) {
			return fault(c.paths[owner]+".interfaces", "%s is made of this bridge: a loop", name)
		}
		if owner := c.members[link]; owner != "" {
			return fault(c.paths[name]+".link", "%s is a port of %s: link to that", link, owner)
		}
	}
	return nil
}
