// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// Binding is a binding as stored: with its user data, and with a copy of the image, which never changes.
type Binding struct {
	api.Binding
	Source *api.ImageSpec `json:"source,omitempty"`
}

// Public returns the binding as it is shown: without user data.
func (b *Binding) Public(status api.Status) api.Binding {
	shown := b.Binding
	shown.UserData = ""
	shown.Satisfied = satisfied(b, status)
	return shown
}

// Rescue is a rescue as stored.
type Rescue struct {
	api.Rescue
	Number int64 `json:"number"`          // another one for other keys
	Given  bool  `json:"given,omitempty"` // its plan was issued
}

// StoredImage is an image as stored.
type StoredImage struct {
	api.ImageSpec
	Created time.Time `json:"created"`
}

// Public returns the image as it is shown.
func (i *StoredImage) Public(revision int64) api.Image {
	return api.Image{ImageSpec: i.ImageSpec, Created: i.Created, Revision: revision}
}

// Generation is the generation of the binding: 0 when the node is not bound.
func (tx *Tx) Generation() int64 {
	if binding := tx.Binding(); binding != nil {
		return binding.Generation
	}
	return 0
}

// Satisfied reports whether the node was observed to be as its binding demands.
func (tx *Tx) Satisfied() bool { return satisfied(tx.Binding(), *tx.Status()) }

func satisfied(binding *Binding, status api.Status) bool {
	if binding == nil || binding.Generation != status.Generation {
		return false
	}
	return SettledPhase(status) == targetPhase(binding.BindingSpec)
}

// targetPhase is the phase that a binding ends in.
func targetPhase(binding api.BindingSpec) api.Phase {
	switch {
	case binding.Capture != "":
		return api.Captured
	case binding.Image == "":
		return api.Wiped
	}
	return api.Operational
}

// SettledPhase is the phase that counts for the binding: a rescue only interrupts it.
func SettledPhase(status api.Status) api.Phase {
	if status.Phase == api.UnderRescue {
		return status.Before
	}
	return status.Phase
}

// PhaseText is a phase in a message.
func PhaseText(phase api.Phase) string {
	if phase == "" {
		return "not seen yet"
	}
	return string(phase)
}

// Known reports whether the node is declared or was seen. A deleted node keeps a status of nothing but its generation.
func (tx *Tx) Known() bool { return tx.Node() != nil || tx.Status().Phase != "" }

// Spec returns the node as declared; an empty one when it is not.
func (tx *Tx) Spec() api.NodeSpec {
	if node := tx.Node(); node != nil {
		return *node
	}
	return api.NodeSpec{}
}

// NameOr returns the node's name, or while it has none, what the request called it.
func (tx *Tx) NameOr(reference string) string {
	if node := tx.Node(); node != nil {
		return node.Name
	}
	return reference
}

// Public returns the node as it is shown.
func (tx *Tx) Public() api.Node {
	node := api.Node{NodeSpec: api.NodeSpec{MAC: tx.MAC}, Status: *tx.Status()}
	if declared := tx.Node(); declared != nil {
		node.NodeSpec, node.Declared, node.Revision = *declared, true, tx.RevisionOf(Node)
	}
	if rescue := tx.Rescue(); rescue != nil {
		node.Rescue = &rescue.Rescue
	}
	if binding := tx.Binding(); binding != nil {
		shown := binding.Public(*tx.Status())
		node.Binding = &shown
	}
	return node
}
