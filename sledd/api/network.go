// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"strings"
)

// Network is the network of an installed system: a word, or a document as JSON (contract/network.md).
type Network string

// ImageNetwork is the default among NetworkWords: what the image brings.
const ImageNetwork Network = "image"

// NetworkFile is a file of an installed system that its network is rendered to.
type NetworkFile struct {
	Path    string `json:"path" doc:"Where it is in the installed system" example:"/etc/systemd/network/10-sled-eth0.network"`
	Content string `json:"content"`
}

// RenderedNetwork is a declared network as installed systems get it.
type RenderedNetwork struct {
	Networkd              []NetworkFile `json:"networkd,omitempty" doc:"For images that start systemd-networkd"`
	NetworkManager        []NetworkFile `json:"networkmanager,omitempty" doc:"For images that start NetworkManager"`
	NetplanNetworkd       []NetworkFile `json:"netplan_networkd,omitempty" doc:"For images with netplan and systemd-networkd"`
	NetplanNetworkManager []NetworkFile `json:"netplan_networkmanager,omitempty" doc:"For images with netplan that start NetworkManager alone"`
}

// Declared reports whether the network is a document.
func (n Network) Declared() bool { return strings.HasPrefix(string(n), "{") }

// MarshalJSON writes a document as an object, and a word as a string.
func (n Network) MarshalJSON() ([]byte, error) {
	if n.Declared() {
		return []byte(n), nil
	}
	return json.Marshal(string(n)) //nolint:wrapcheck // a string
}

// UnmarshalJSON reads either. What a document means is for package network.
func (n *Network) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "{") {
		*n = Network(text)
		return nil
	}
	var word string
	err := json.Unmarshal(text, &word)
	*n = Network(word)
	return err //nolint:wrapcheck // names the type
}
