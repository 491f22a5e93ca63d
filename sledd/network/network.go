// SPDX-License-Identifier: Apache-2.0

// Package network reads the network of a node (contract/network.md): a word, or a document in a closed subset of
// netplan's language, version 2.
package network

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
)

// MaxBytes of a document.
const MaxBytes = 16384

// Canonical returns the network in its canonical form: documents of one meaning have the same. A word stays.
func Canonical(given api.Network) (api.Network, error) {
	if !given.Declared() {
		return given, word(given)
	}
	tree, _, err := parse(given)
	if err != nil {
		return "", err
	}
	canonical, err := json.Marshal(tree)
	if err != nil {
		return "", fmt.Errorf("network: %w", err)
	}
	return api.Network(canonical), nil
}

func word(given api.Network) error {
	words := ""
	for _, one := range api.NetworkWords() {
		if given == "" || given == one {
			return nil
		}
		words += string(one) + ", "
	}
	return fmt.Errorf("network: %.40q, want %sor a mapping as netplan has it below its key network", string(given), words)
}

// Names are what a document names that others may name, too.
type Names struct {
	MACs      []string     // of interfaces of the machine
	Addresses []netip.Addr // of the machine, without link-local ones
}

// NamesIn returns what a network in its canonical form names; nothing for a word.
func NamesIn(given api.Network) (all Names, err error) {
	if !given.Declared() {
		return all, nil
	}
	_, found, err := parse(given)
	if err != nil {
		return all, err
	}
	for _, one := range found.Ethernets {
		all.MACs = append(all.MACs, one.Match.MAC)
	}
	slices.Sort(all.MACs)
	for _, kind := range found.kinds() {
		for _, one := range kind.devices {
			for _, text := range one.Addresses {
				if address := netip.MustParsePrefix(text).Addr(); !address.IsLinkLocalUnicast() {
					all.Addresses = append(all.Addresses, address)
				}
			}
		}
	}
	slices.SortFunc(all.Addresses, netip.Addr.Compare)
	return all, nil
}

// FromFile returns the network in a file of netplan, in YAML or JSON: what is below its key network.
func FromFile(content []byte) (api.Network, error) {
	encoded, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return "", fmt.Errorf("network: neither YAML nor JSON: %w", err)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &file); err != nil || file["network"] == nil || len(file) > 1 {
		return "", fmt.Errorf("network: want a file of netplan, with one key, network, and got %s",
			shownKeys(slices.Sorted(maps.Keys(file))))
	}
	if file["network"][0] != '{' {
		return "", fmt.Errorf("network: %.40s, want a mapping", file["network"])
	}
	return api.Network(file["network"]), nil
}

// document is a network as the checks see it, in its canonical form.
type document struct {
	Ethernets map[string]device `json:"ethernets"`
	Bonds     map[string]device `json:"bonds"`
	VLANs     map[string]device `json:"vlans"`
	Bridges   map[string]device `json:"bridges"`
}

type device struct {
	Match struct {
		MAC string `json:"macaddress"`
	} `json:"match"`
	SetName    string         `json:"set-name"`
	MAC        string         `json:"macaddress"`
	MTU        int64          `json:"mtu"`
	DHCP4      bool           `json:"dhcp4"`
	DHCP6      bool           `json:"dhcp6"`
	AcceptRA   *bool          `json:"accept-ra"`
	Overrides4 map[string]any `json:"dhcp4-overrides"`
	Overrides6 map[string]any `json:"dhcp6-overrides"`
	Addresses  []string       `json:"addresses"`
	Routes     []route        `json:"routes"`
	DNS        struct {
		Addresses []string `json:"addresses"`
		Search    []string `json:"search"`
	} `json:"nameservers"`
	Interfaces []string   `json:"interfaces"`
	Parameters parameters `json:"parameters"`
	ID         int64      `json:"id"`
	Link       string     `json:"link"`
}

type route struct {
	To     string `json:"to"`
	Via    string `json:"via"`
	OnLink bool   `json:"on-link"`
	Metric int64  `json:"metric"`
}

type parameters struct {
	Mode     string `json:"mode"`
	LACPRate string `json:"lacp-rate"`
	Primary  string `json:"primary"`
	MinLinks int64  `json:"min-links"`
	Hash     string `json:"transmit-hash-policy"`
}

// parse reads, completes and checks a document.
func parse(text api.Network) (map[string]any, *document, error) {
	if len(text) > MaxBytes {
		return nil, nil, fmt.Errorf("network: %d bytes, at most %d", len(text), MaxBytes)
	}
	var raw any
	if err := yaml.UnmarshalStrict([]byte(text), &raw); err != nil { // it refuses a key that is there twice
		return nil, nil, fmt.Errorf("network: %w", err)
	}
	read, err := whole("network", raw)
	if err != nil {
		return nil, nil, err
	}
	tree, _ := read.(map[string]any)
	tree["version"] = 2
	found, err := decoded(tree)
	if err != nil {
		return nil, nil, err
	}
	return tree, found, found.check()
}

func decoded(tree map[string]any) (*document, error) {
	var found document
	content, err := json.Marshal(tree)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(content)).Decode(&found)
	}
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	return &found, nil
}
