// SPDX-License-Identifier: Apache-2.0

package netplan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
)

// The renderers of netplan.
const (
	networkd = "networkd"
	manager  = "NetworkManager"
)

// source is the file of netplan for one renderer: the document, and what Sled states where netplan has a default that
// differs between the renderers or does not suit a machine that boots from its network.
func source(document api.Network, renderer string) (string, error) {
	var tree map[string]any
	if err := json.Unmarshal([]byte(document), &tree); err != nil {
		return "", fmt.Errorf("network: %w", err)
	}
	tree["renderer"] = renderer
	ports := portsOf(tree)
	for _, kind := range []string{"ethernets", "bonds", "vlans", "bridges"} {
		devices, _ := tree[kind].(map[string]any)
		for name, one := range devices {
			device, _ := one.(map[string]any)
			if !ports[name] {
				complete(device, renderer)
			}
			if kind == "ethernets" {
				ethernet(device, renderer, name)
			}
		}
	}
	text, err := yaml.Marshal(map[string]any{"network": tree})
	if err != nil {
		return "", fmt.Errorf("network: %w", err)
	}
	return string(text), nil
}

// ethernet states what is left to defaults of hardware: Wake-on-LAN, which would be switched off, and the identity of a
// profile, which would be another one each time.
func ethernet(device map[string]any, renderer, name string) {
	device["wakeonlan"] = true
	if renderer != manager {
		return
	}
	settings, _ := device["networkmanager"].(map[string]any)
	if settings == nil {
		settings = map[string]any{}
	}
	match, _ := device["match"].(map[string]any)
	settings["uuid"] = uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "sled %v %s", match["macaddress"], name)).String()
	device["networkmanager"] = settings
}

// portsOf are the names of the ports of bonds and bridges, which have no separate network.
func portsOf(tree map[string]any) map[string]bool {
	ports := map[string]bool{}
	for _, kind := range []string{"bonds", "bridges"} {
		devices, _ := tree[kind].(map[string]any)
		for _, one := range devices {
			device, _ := one.(map[string]any)
			list, _ := device["interfaces"].([]any)
			for _, port := range list {
				ports[fmt.Sprint(port)] = true
			}
		}
	}
	return ports
}

// complete states what is left to defaults.
func complete(device map[string]any, renderer string) {
	four, six := device["dhcp4"] == true, device["dhcp6"] == true
	routed := six || device["accept-ra"] == true
	if renderer == networkd {
		device["accept-ra"] = routed
		if four { // as firmware does, so that the address stays
			device["dhcp-identifier"] = "mac"
		}
		return
	}
	delete(device, "optional") // NetworkManager waits for no interface without a carrier
	delete(device, "accept-ra")
	direct := map[string]string{"ipv4.method": "disabled", "ipv6.method": "link-local"}
	for _, address := range texts(device["addresses"]) {
		if strings.Contains(address, ":") {
			direct["ipv6.method"] = "manual"
		} else {
			direct["ipv4.method"] = "manual"
		}
	}
	if routed {
		direct["ipv6.method"] = "auto"
	}
	if four {
		direct["ipv4.method"], direct["ipv4.dhcp-client-id"] = "auto", "mac"
	}
	for family, key := range map[string]string{"ipv4": "dhcp4-overrides", "ipv6": "dhcp6-overrides"} {
		if overrides, _ := device[key].(map[string]any); overrides["use-dns"] == false {
			direct[family+".ignore-auto-dns"] = "true"
		}
	}
	device["networkmanager"] = map[string]any{"passthrough": direct}
}

func texts(list any) []string {
	items, _ := list.([]any)
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = fmt.Sprint(item)
	}
	return all
}
