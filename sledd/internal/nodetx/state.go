// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Binding is a binding as stored: with its user data, and with copies of the image and the kernel, which never change.
type Binding struct {
	api.Binding
	Source *api.ImageSpec `json:"source,omitempty"`
	On     *api.ImageSpec `json:"on,omitempty"` // the kernel that the image runs on; nil: that of the Sled system
	// Sealed is the user data, if sledd has a key for it; user_data is empty then.
	Sealed string `json:"sealed_user_data,omitempty"`
}

// UserData returns the user data of a binding.
func (db *DB) UserData(b *Binding) (string, error) {
	if b.Sealed == "" {
		return b.BindingSpec.UserData, nil
	}
	text, err := db.Box.Open(b.Sealed, b.MAC)
	if err != nil {
		return "", fmt.Errorf("user data of node %s: %w", b.MAC, err)
	}
	return text, nil
}

// Seal replaces the user data of a binding by the sealed text, if there is a key. The sealed text of old is kept if the
// user data is the same: a new one would look like a change.
func (db *DB) Seal(b *Binding, old *Binding) {
	if db.Box == nil || b.BindingSpec.UserData == "" {
		return
	}
	if old != nil && old.Sealed != "" {
		if text, err := db.UserData(old); err == nil && text == b.BindingSpec.UserData {
			b.Sealed = old.Sealed
		}
	}
	if b.Sealed == "" {
		b.Sealed = db.Box.Seal(b.BindingSpec.UserData, b.MAC)
	}
	b.BindingSpec.UserData = ""
}

// Memory reports whether the bound image runs from memory.
func (b *Binding) Memory() bool { return b != nil && b.Source != nil && b.Source.InMemory() }

// Harmless reports whether the bound image runs from memory and gets no secret.
func (b *Binding) Harmless() bool {
	return b.Memory() && len(b.AuthorizedKeys) == 0 && b.UserDataSHA256 == ""
}

// Payload returns the payload that the node is bound to; nil: none.
func (b *Binding) Payload() *api.Payload {
	if b == nil || b.Source == nil {
		return nil
	}
	return b.Source.Payload
}

// Awaited returns the payload that the node was started with, until it confirms; nil: none.
func (tx *Tx) Awaited() *api.Payload {
	status := tx.Status()
	if status.Phase != api.Starting || !status.Memory || status.Generation != tx.Generation() {
		return nil
	}
	return tx.Binding().Payload()
}

// AwaitsKernel reports whether the node has left to start the Sled system on the kernel of its binding.
func (tx *Tx) AwaitsKernel() bool {
	at, bound := tx.Status().Kernel, tx.Binding()
	return at.State == api.KernelLeft && bound != nil && bound.Kernel == at.Image &&
		bound.Generation == tx.Status().Generation
}

// Public returns the binding as it is shown: without user data.
func (b *Binding) Public(status api.Status) api.Binding {
	shown := b.Binding
	shown.UserData = ""
	shown.Memory = b.Memory()
	shown.Satisfied = satisfied(b, status)
	shown.HandsOver = status.Handover == b.Generation
	shown.SeedDiffers = seedDiffers(b, status)
	return shown
}

// StoredImage is an image as stored.
type StoredImage struct {
	api.ImageSpec
	Created  time.Time `json:"created"`
	Captured string    `json:"captured,omitempty"` // file that the capture uploaded which registered the image
	// Unsigned is when a signature was withdrawn: one of that time or before is not registered again.
	Unsigned time.Time `json:"unsigned,omitzero"`
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
	return SettledPhase(status) == targetPhase(binding)
}

// HandsOver reports whether the machine changes hands by the binding, and has not done so yet.
func (tx *Tx) HandsOver() bool {
	return tx.Binding() != nil && tx.Status().Handover == tx.Generation() && !tx.Satisfied()
}

// MayHaveTicket refuses a ticket while the machine changes hands: it would go to the system of whoever had it before.
func (tx *Tx) MayHaveTicket() error {
	if tx.HandsOver() || !tx.Admission().HandedOver.IsZero() {
		return refusal.New(refusal.Conflict, "node %s changes hands (generation %d), so that no ticket is given to the "+
			"system that runs on it: reset it by its BMC", tx.NameOr(tx.MAC), tx.Generation())
	}
	return nil
}

// seedDiffers reports whether a node has installed its image with an earlier seed than that of the binding.
func seedDiffers(binding *Binding, status api.Status) bool {
	phase := SettledPhase(status)
	return binding.Image != "" && binding.Generation == status.Generation && status.SeedNumber != binding.SeedNumber &&
		(phase == api.Starting || phase == api.Operational)
}

// targetPhase is the phase that a binding ends in.
func targetPhase(binding *Binding) api.Phase {
	payload := binding.Payload()
	switch {
	case binding.Capture != "":
		return api.Captured
	case binding.Image == "":
		return api.Wiped
	case binding.Configure == api.Unconfigured,
		payload != nil && cmp.Or(payload.Confirm, api.ConfirmNone) == api.ConfirmNone:
		return api.Unconfirmed
	}
	return api.Operational
}

// SettledPhase is the phase that counts for the binding: a detour only interrupts it.
func SettledPhase(status api.Status) api.Phase { return cmp.Or(status.Before, status.Phase) }

// PhaseText is a phase in a message.
func PhaseText(phase api.Phase) string {
	if phase == "" {
		return "not seen yet"
	}
	return string(phase)
}

// Known reports whether the node is declared or was seen. A deleted node keeps a status of nothing but its generation.
func (tx *Tx) Known() bool { return tx.Node() != nil || tx.Status().Phase != "" }

// Forget removes all that was observed of the node. The generation of its last plan is kept, with the run, so that
// neither goes back.
func (tx *Tx) Forget() {
	tx.Writes.Delete(key.Facts + tx.MAC)
	tx.Writes.Delete(key.Logs + tx.MAC)
	events := key.EventsOf(tx.MAC)
	tx.Writes.Do = append(tx.Writes.Do,
		store.Operation{Key: events, Delete: true, To: key.Event(tx.MAC, tx.Now.UnixNano())})
	kept := api.Status{Generation: tx.Status().Generation, Owner: tx.Status().Owner, Handover: tx.Status().Handover,
		Stamp: tx.Status().Stamp, Released: tx.Status().Released}
	if kept.Generation > 0 {
		kept.Run.Number = tx.Status().Run.Number
	}
	*tx.Status() = kept
	tx.SetTokens(nil)
	tx.SetDetour(detour.Detour{})
	before := tx.Admission()
	*tx.Kexecs(), *tx.Admission() = Kexecs{}, admission.State{}
	if kept.Generation > 0 {
		*tx.Admission() = admission.State{Epoch: before.Epoch + 1, Reset: tx.Now, HandedOver: before.HandedOver}
	}
}

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
	tx.Detour().Show(&node)
	if binding := tx.Binding(); binding != nil {
		shown := binding.Public(*tx.Status())
		node.Binding = &shown
	}
	return node
}
