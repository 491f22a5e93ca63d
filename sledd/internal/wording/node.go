// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
)

// DeclaredNode is the declaration of a node as a person reads it.
func DeclaredNode(n api.Node) [][2]string {
	return Declared(attribute.Node, n.NodeSpec, map[string]string{"architecture": Architecture(n),
		"data_disks": DataDisks(n.DataDisks), "bmc": BMC(n.BMC), "network": Network(n)})
}

// Architecture returns the declared architecture, or else the one that the node reported.
func Architecture(n api.Node) string {
	if n.Architecture != "" {
		return n.Architecture
	}
	return n.Status.Architecture
}

// BMC returns the URL of a BMC.
func BMC(bmc *api.BMC) string {
	if bmc == nil {
		return ""
	}
	address := bmc.Address
	if bmc.Port != 0 {
		address = net.JoinHostPort(address, strconv.FormatInt(bmc.Port, 10))
	}
	return bmc.Driver + "://" + address
}

// Network returns the word that is declared for the network of a node, or the names of the interfaces of a document and
// where the rest is.
func Network(n api.Node) string {
	if !n.Network.Declared() {
		return string(n.Network)
	}
	var document map[string]any
	if err := json.Unmarshal([]byte(n.Network), &document); err != nil {
		return err.Error()
	}
	var names []string
	for _, kind := range document {
		interfaces, _ := kind.(map[string]any) // version is a number
		names = slices.AppendSeq(names, maps.Keys(interfaces))
	}
	slices.Sort(names)
	return strings.Join(names, ", ") + ": sledctl node network " + cmp.Or(n.Name, n.MAC)
}

// DataDisks lists the data disks with their mount points.
func DataDisks(list []api.DataDisk) string {
	parts := make([]string, 0, len(list))
	for _, d := range list {
		parts = append(parts, fmt.Sprintf("%s: %s %s at %s", d.Name, d.Disk, cmp.Or(d.Filesystem, "ext4"), d.Mount))
	}
	return strings.Join(parts, ", ")
}

// Overdue returns the time for which a node has stood still too long, and the last progress of its step.
func Overdue(n api.Node) string {
	if n.Overdue == 0 {
		return ""
	}
	late := "for " + Duration(time.Duration(n.Overdue)*time.Second)
	if n.Status.Phase.Working() && !n.Status.Moved.IsZero() {
		late += "; bytes last moved " + Time(n.Status.Moved)
	}
	return late
}

// BootOrder returns what the firmware boots first; empty for BIOS, which does not report it.
func BootOrder(n api.Node) string {
	text := n.Status.OS.BootOrder.String()
	if current := n.Status.OS.BootCurrent; text != "" && !current.IsZero() {
		text += ", last started " + current.String()
	}
	if n.OtherBootOrder() != "" {
		text += "; declared: " + n.BootOrder
	}
	return text
}

// Facts lists facts in the order of their keys.
func Facts(values map[string]api.Identifier) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !values[key].IsZero() {
			parts = append(parts, key+" "+Fact(key, values[key].String()))
		}
	}
	return strings.Join(parts, ", ")
}

// Fact returns a fact as it was reported; a byte count also in a readable unit.
func Fact(key, value string) string {
	if size := Size(value); key == "bytes" && size != value {
		return fmt.Sprintf("%s (%s)", value, size)
	}
	return value
}

// Size returns a reported byte count in a readable unit; any other text as it is.
func Size(value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return value
	}
	return Bytes(n)
}

// Phase returns a phase, also of a node that was never observed.
func Phase(phase api.Phase) string { return cmp.Or(string(phase), api.Unseen) }

// Generation returns the observed generation, and the requested one if that differs.
func Generation(n api.Node) string {
	observed := strconv.FormatInt(n.Status.Generation, 10)
	if n.Binding == nil && n.Status.Generation == 0 {
		return ""
	}
	if n.Binding == nil || n.Binding.Generation == n.Status.Generation {
		return observed
	}
	return observed + " -> " + strconv.FormatInt(n.Binding.Generation, 10)
}

// Image returns the observed image, and the requested one if that differs.
func Image(n api.Node) string {
	switch {
	case n.Binding != nil && n.Binding.Satisfied && n.Status.Memory:
		return n.Binding.Image
	case n.Binding == nil || n.Binding.Satisfied:
		return n.Status.Image
	case n.Binding.Image == n.Status.Image && n.Binding.Image != "":
		return n.Status.Image
	}
	return Dash(n.Status.Image) + " -> " + Request(*n.Binding)
}

// Runs names the image that a node runs from memory, or else the one on its disk; disk is then that and its fate.
func Runs(n api.Node) (image, disk string) {
	switch s := n.Status; {
	case !s.Memory:
		return s.Image, ""
	case n.Binding == nil || n.Binding.Generation != s.Generation:
		return "an earlier one from memory", Dash(s.Image) + ", left as it is"
	case s.Kernel.State == api.KernelUp:
		return n.Binding.Image + " from memory, on kernel " + s.Kernel.Image, Dash(s.Image) + ", left as it is"
	default:
		return n.Binding.Image + " from memory", Dash(s.Image) + ", left as it is"
	}
}

// NodeName returns the name of a node, else its MAC.
func NodeName(n api.Node) string {
	return cmp.Or(n.Name, n.MAC)
}
