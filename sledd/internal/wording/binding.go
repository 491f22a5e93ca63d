// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// Refusal puts the faults of a bulk request in words for people: by node and not by place in the request, and a
// fault that several nodes have once.
func Refusal(err error, items []api.BulkBinding) error {
	var refused *api.Error
	if !errors.As(err, &refused) {
		return err
	}
	named := *refused
	named.Errors = nil
	var messages []string
	nodes := map[string][]string{}
	for _, fault := range refused.Errors {
		place, attribute := -1, ""
		_, _ = fmt.Sscanf(fault.Location, "body.items[%d].%s", &place, &attribute)
		if place < 0 || place >= len(items) {
			named.Errors = append(named.Errors, fault)
			continue
		}
		if strings.HasPrefix(fault.Message, "expected ") {
			fault.Message = fmt.Sprintf("%s %v: %s", attribute, fault.Value, fault.Message)
		}
		if !slices.Contains(messages, fault.Message) {
			messages = append(messages, fault.Message)
		}
		nodes[fault.Message] = append(nodes[fault.Message], items[place].Node)
	}
	for _, message := range messages {
		text, of := message, nodes[message]
		switch {
		case len(of) > 1:
			text += fmt.Sprintf(" (%s)", Nodes(len(of)))
		case !strings.Contains(message, of[0]):
			text = of[0] + ": " + message
		}
		named.Errors = append(named.Errors, api.ErrorDetail{Message: text})
	}
	return &named
}

// Request names the image, the capture or the wipe that a binding requests.
func Request(b api.Binding) string {
	if b.Capture != "" {
		return "(capture " + b.Capture + ")"
	}
	if b.Image == "" {
		return "(wipe)"
	}
	return b.Image
}

// RequestOf returns the request of a node's binding; empty without a binding.
func RequestOf(n api.Node) string {
	if n.Binding == nil {
		return ""
	}
	return Request(*n.Binding)
}

// BindingName returns the name of the bound node. A machine without one is known by its MAC.
func BindingName(b api.Binding) string { return cmp.Or(b.Node, b.MAC) }

// Effect describes what will happen to the disks of a node and when, until the node starts with it. A wipe
// and a capture stay in words afterwards: no other row has them.
func Effect(n api.Node) string {
	b, words := n.Binding, ""
	switch {
	case b.Capture != "":
		words = Captured(b.BindingSpec) + " is read and becomes image " + b.Capture
	case b.Image == "":
		words = "all disks are wiped, but those that it keeps"
	case b.Generation > n.Status.Generation && b.Memory:
		words = "it runs image " + b.Image + " from memory, and its disk is left as it is"
	case b.Generation > n.Status.Generation && b.Partition != "":
		words = "partition " + b.Partition + " of its disk gets image " + b.Image + ", and all other bytes stay"
	case b.Generation > n.Status.Generation:
		words = "its disk is wiped and gets image " + b.Image
	}
	if words == "" || b.Generation <= n.Status.Generation {
		return words
	}
	return words + "; " + When(api.When(n.Status.Phase, n.Detour() != nil))
}

// Captured is what of a machine a capture reads.
func Captured(b api.BindingSpec) string {
	if b.Partition != "" {
		return "partition " + b.Partition + " of its disk"
	}
	return "its disk"
}

// Outlook describes what a binding would do to its node, and when.
func Outlook(o api.Outlook) string {
	switch {
	case o.Wipes != "":
		return o.Wipes + "; " + When(o.When)
	case len(o.Why) > 0 && o.Memory:
		return memory(o)
	case len(o.Why) > 0:
		return o.Node + ": its disk is only read; " + When(o.When)
	case o.Changed:
		return fmt.Sprintf("%s: the binding changes, nothing is wiped, image %s stays", o.Node, cmp.Or(o.Image, "none"))
	}
	return o.Node + ": nothing changes"
}

// memory describes an image that runs from memory.
func memory(o api.Outlook) string {
	disk := "its disk"
	if len(o.Disks) == 1 {
		disk = "disk " + o.Disks[0].String()
	}
	return fmt.Sprintf("%s: runs %s (%s, %s) from memory, generation %d -> %d, %s; %s is left as it is", o.Node, o.Image,
		o.Kind, Bytes(o.Bytes), o.Before, o.Generation, When(o.When), disk)
}

// When returns the time at which a node acts on its binding.
func When(when string) string {
	switch when {
	case api.Now:
		return "now, if it still waits in the Sled system"
	case api.AfterDetour:
		return "when its detour ends"
	}
	return "at its next boot"
}
