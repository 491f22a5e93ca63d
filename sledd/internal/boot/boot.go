// SPDX-License-Identifier: Apache-2.0

// Package boot decides what a node boots and renders its script. It is pure.
package boot

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/ipxe"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// Bound is the binding of a node.
type Bound struct {
	Is         bool // the node is bound
	Generation int64
	Memory     bool // its image runs from memory
}

// Local reports whether the node boots its own disk: its binding is satisfied, or its system is
// just starting, or its disk was only read. Everything else boots the Sled system, also a node
// whose image runs from memory, each time.
func Local(status api.Status, bound Bound) bool {
	if !bound.Is {
		return status.Phase.Installed() && !status.Memory || status.DiskKept
	}
	if status.Generation != bound.Generation || bound.Memory {
		return false
	}
	switch status.Phase {
	case api.Starting, api.Operational, api.Unconfirmed, api.Captured:
		return true
	case api.Failed: // without a code: the node did its part, and what it made could not be registered
		return status.Code == 0 && status.DiskKept
	default:
		return false
	}
}

// System is where the Sled system is fetched from, and the arguments of its kernel.
type System struct {
	URL             string   // base of the boot server for payloads, http://ADDRESS
	Flavour         string   // when the node names none
	Servers         []string // base URLs of sledd; may be empty
	KernelArguments string   // of the site, such as the console
}

// Script renders the script that boots the Sled system. It holds no secret. iPXE itself knows the architecture, and
// fetches from the address that it has the script of: the boot server may have several.
func (s System) Script(address, flavour string) (string, error) {
	text, err := ipxe.Node(ipxe.NodeValues{MAC: address, System: s.folder("", flavour),
		Arguments: s.arguments(address)})
	if err != nil {
		return "", fmt.Errorf("boot script of %s: %w", address, err)
	}
	return text, nil
}

// With returns what to boot a running node with. base is the URL of a boot server, http://ADDRESS.
// Architecture "" is x86_64.
func (s System) With(base, address, flavour, architecture string) api.Boot {
	folder := s.folder(base, flavour)
	if architecture == "arm64" {
		folder += "-arm64"
	}
	return api.Boot{Kernel: folder + "/vmlinuz", Initrd: folder + "/initrd.img", Arguments: s.arguments(address)}
}

// Secure returns what a node can start itself: the files of the first server of sledd with TLS; empty without one.
func (s System) Secure(node api.NodeSpec) api.Boot {
	for _, server := range s.Servers {
		if strings.HasPrefix(server, "https://") {
			return s.With(server, node.MAC, node.Flavour, node.Architecture)
		}
	}
	return api.Boot{}
}

func (s System) folder(base, flavour string) string {
	if flavour == "" {
		flavour = s.Flavour
	}
	return strings.TrimSuffix(base, "/") + "/sled/" + flavour
}

func (s System) arguments(address string) string {
	words := []string{}
	if s.KernelArguments != "" {
		words = append(words, s.KernelArguments)
	}
	words = append(words, "sled.mac="+address, "BOOTIF=01-"+mac.Hyphens(address))
	if len(s.Servers) > 0 {
		words = append(words, "sled.servers="+strings.Join(s.Servers, ","))
	}
	return strings.Join(words, " ")
}
