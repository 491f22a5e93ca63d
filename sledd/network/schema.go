// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// reader returns the canonical form of a value; nil: it means the same as an absent one. The path is for errors.
type reader func(path string, value any) (any, error)

var (
	overrides = object{"use-routes": standard(true, boolean), "use-dns": standard(true, boolean),
		"route-metric": integer(0, math.MaxInt32)}
	common = object{
		"mtu": integer(68, 65535), "optional": standard(false, boolean),
		"dhcp4": standard(false, boolean), "dhcp6": standard(false, boolean), "accept-ra": boolean,
		"dhcp4-overrides": overrides.read, "dhcp6-overrides": overrides.read,
		"addresses": list(address), "gateway4": gateway("IPv4"), "gateway6": gateway("IPv6"),
		"routes": list(readRoute), "nameservers": object{"addresses": list(server), "search": list(domain)}.read,
	}
	ethernet = common.with(object{"match": object{"macaddress": mac}.needs("macaddress"), "set-name": name})
	bond     = common.with(object{"macaddress": mac, "interfaces": list(name), "parameters": object{
		"mode": oneOf("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb",
			"balance-alb"),
		"lacp-rate": oneOf("slow", "fast"), "mii-monitor-interval": integer(0, 60000), "primary": name,
		"transmit-hash-policy": oneOf("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"),
		"min-links":            integer(0, 64)}.needs("mode")})
	vlan   = common.with(object{"id": integer(1, 4094), "link": name})
	bridge = common.with(object{"macaddress": mac, "interfaces": list(name), "parameters": object{
		"stp": standard(true, boolean), "forward-delay": integer(2, 30)}.read})
	whole = object{"version": only(float64(2)), "ethernets": devices(ethernet, "match"),
		"bonds": devices(bond, "interfaces", "parameters"), "vlans": devices(vlan, "id", "link"),
		"bridges": devices(bridge)}.needs("ethernets")
)

// object is a mapping with these keys and no others.
type object map[string]reader

func (o object) with(more object) object {
	all := maps.Clone(o)
	maps.Copy(all, more)
	return all
}

func (o object) needs(keys ...string) reader {
	return func(path string, value any) (any, error) {
		read, err := o.read(path, value)
		if err != nil {
			return nil, err
		}
		content, _ := read.(map[string]any)
		for _, key := range keys {
			if content[key] == nil {
				return nil, fault(path, "has no %s", key)
			}
		}
		return read, nil
	}
}

func (o object) read(path string, value any) (any, error) {
	content, err := mapping(path, value)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		read, known := o[key]
		if !known {
			return nil, fault(fmt.Sprintf("%s.%.40s", path, key), "unknown key, want one of %s",
				strings.Join(slices.Sorted(maps.Keys(o)), ", "))
		}
		found, err := read(path+"."+key, content[key])
		if err != nil {
			return nil, err
		}
		if found != nil {
			all[key] = found
		}
	}
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // an empty mapping means nothing
	}
	return all, nil
}

func mapping(path string, value any) (map[string]any, error) {
	content, ok := value.(map[string]any)
	if !ok {
		return nil, fault(path, "%s, want a mapping", shown(value))
	}
	return content, nil
}

// devices are interfaces of one kind, by name.
func devices(o object, needed ...string) reader {
	read := o.needs(needed...)
	return func(path string, value any) (any, error) {
		content, err := mapping(path, value)
		if err != nil {
			return nil, err
		}
		all := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(content)) {
			at := path + "." + key
			if _, err := name(path, key); err != nil {
				return nil, err
			}
			found, err := read(at, content[key])
			if err != nil {
				return nil, err
			}
			one, _ := found.(map[string]any)
			if one == nil {
				one = map[string]any{}
			}
			all[key] = withRoutes(one)
		}
		if len(all) == 0 {
			return nil, nil //nolint:nilnil // likewise
		}
		return all, nil
	}
}

// withRoutes has the gateways as routes, and routes in one order. Whether it takes part in the configuration of IPv6 by
// routers is stated only where it does not follow from dhcp6.
func withRoutes(one map[string]any) map[string]any {
	routes, _ := one["routes"].([]any)
	for _, key := range []string{"gateway4", "gateway6"} {
		if via, found := one[key].(string); found {
			routes = append(routes, map[string]any{"to": everything(via), "via": via})
			delete(one, key)
		}
	}
	if len(routes) > 0 {
		slices.SortStableFunc(routes, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		one["routes"] = routes
	}
	if ra, stated := one["accept-ra"].(bool); stated && !ra && one["dhcp6"] != true || ra && one["dhcp6"] == true {
		delete(one, "accept-ra")
	}
	return one
}

func list(read reader) reader {
	return func(path string, value any) (any, error) {
		items, ok := value.([]any)
		if !ok {
			return nil, fault(path, "%s, want a list", shown(value))
		}
		var all []any
		for i, item := range items {
			at := fmt.Sprintf("%s[%d]", path, i)
			found, err := read(at, item)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(all, func(other any) bool { return fmt.Sprint(other) == fmt.Sprint(found) }) {
				return nil, fault(at, "%s is listed twice", shown(item))
			}
			all = append(all, found)
		}
		if all == nil {
			return nil, nil //nolint:nilnil // likewise
		}
		return all, nil
	}
}
