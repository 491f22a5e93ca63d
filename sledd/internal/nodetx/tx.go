// SPDX-License-Identifier: Apache-2.0

// Package nodetx is the unit of work on one node: its records as stored at one revision, and the
// changes to them. A commit is a compare-and-swap on the records that decided it.
package nodetx

import (
	"cmp"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Tx is a unit of work.
type Tx struct {
	MAC      string
	Now      time.Time
	Revision int64 // of the store, as read
	// Writes are changes of other keys than those of the records, and their conditions.
	Writes store.Transaction

	records
	identity  Identity
	newEvents []api.Event
	outcomes  []string // of a kexec, for metrics
	sender    sender
}

func newTx(mac string, now time.Time) *Tx {
	tx := &Tx{MAC: mac, Now: now}
	tx.status.writable, tx.tokens.writable, tx.kexecs.writable, tx.detour.writable = true, true, true, true
	tx.admission.writable = true
	return tx
}

// Node returns the node as declared; nil when it is not. It is written by Declare.
func (tx *Tx) Node() *api.NodeSpec { return tx.node.Get() }

// Status returns what was observed of the node.
func (tx *Tx) Status() *api.Status { return tx.status.made() }

// Binding returns the node's binding; nil when there is none.
func (tx *Tx) Binding() *Binding { return tx.binding.Get() }

// Tokens returns the records of the node's tokens.
func (tx *Tx) Tokens() []token.Record { return *tx.tokens.made() }

// SetTokens replaces the records of the node's tokens.
func (tx *Tx) SetTokens(list []token.Record) { *tx.tokens.made() = list }

// Kexecs returns the record of the kexecs of the node.
func (tx *Tx) Kexecs() *Kexecs { return tx.kexecs.made() }

// Detour returns what the node is to do instead of following its binding; nil when there is nothing.
func (tx *Tx) Detour() *detour.Detour { return tx.detour.Get() }

// SetDetour replaces the detour of the node; one of which nothing is requested ends it: the node then has the phase
// again that it had before.
func (tx *Tx) SetDetour(to detour.Detour) {
	if !to.Requested() {
		tx.detour.set(nil)
		tx.Enter(SettledPhase(*tx.Status()))
		return
	}
	tx.detour.set(&to)
}

// Admission returns who claims to be the node and who is.
func (tx *Tx) Admission() *admission.State { return tx.admission.made() }

// Facts returns the node's hardware; nil when it was never reported.
func (tx *Tx) Facts() *api.Facts { return tx.facts.Get() }

// Log returns the newest log of the node; nil when there is none.
func (tx *Tx) Log() *[]byte { return tx.log.Get() }

// Network returns the node's network as it was rendered; nil when none is declared.
func (tx *Tx) Network() *api.RenderedNetwork { return tx.network.Get() }

// Image returns the image that the unit was loaded with; nil when it does not exist.
func (tx *Tx) Image() *api.Image {
	stored := tx.image.Get()
	if stored == nil {
		return nil
	}
	image := stored.Public(tx.image.Revision())
	return &image
}

// NameHolder returns the MAC of the node that has the name that the unit was loaded with, and its
// revision; "" when no node has it.
func (tx *Tx) NameHolder() (string, int64) {
	if holder := tx.holder.Get(); holder != nil {
		return string(*holder), tx.holder.Revision()
	}
	return "", 0
}

// Events returns the events that the unit was loaded with, the newest first, without those that it adds.
func (tx *Tx) Events() []api.Event {
	if !tx.records.events.queried {
		panic(unqueried(tx.records.events.list, tx.MAC))
	}
	return tx.records.events.list
}

// NewEvents returns the events that the unit adds.
func (tx *Tx) NewEvents() []api.Event { return tx.newEvents }

// RevisionOf returns the revision of a record as read; 0 when it does not exist.
func (tx *Tx) RevisionOf(kind Kind) int64 { return tx.slot(kind).Revision() }

// StoredValue returns the bytes of a record as read.
func (tx *Tx) StoredValue(kind Kind) []byte { return tx.slot(kind).Stored() }

// Declare replaces the node's declaration.
func (tx *Tx) Declare(spec api.NodeSpec) {
	tx.node.set(&spec)
	tx.Writes.Put(key.Nodes+tx.MAC, Encode(spec))
}

// Assume takes a declaration for stored, for a dry run.
func (tx *Tx) Assume(spec *api.NodeSpec) { tx.node.set(spec) }

// Bind replaces the node's binding, and writes it unless it is stored already.
func (tx *Tx) Bind(binding Binding, write bool) {
	if write {
		binding.Revision = 0 // the store's own
		tx.Writes.Put(key.Bindings+tx.MAC, Encode(binding))
	}
	binding.Revision = tx.binding.Revision()
	tx.binding.set(&binding)
}

// Unbind removes the node's binding.
func (tx *Tx) Unbind() {
	tx.Writes.Delete(key.Bindings + tx.MAC)
	tx.binding.set(nil)
}

// Enter changes the phase.
func (tx *Tx) Enter(phase api.Phase) {
	if status := tx.Status(); status.Phase != phase {
		status.Phase = phase
		status.Since = tx.Now
		status.Before = ""
	}
}

// Interrupt enters the phase of a detour. The one before counts for the binding.
func (tx *Tx) Interrupt(phase api.Phase) {
	if status := tx.Status(); status.Phase != phase {
		before := cmp.Or(status.Before, status.Phase, api.Booting)
		tx.Enter(phase)
		status.Before = before
	}
}

// AddEvent adds an event; MAC, time, phase and sender are filled in.
func (tx *Tx) AddEvent(event api.Event) {
	tx.sender.sign(&event)
	tx.newEvents = append(tx.newEvents, event)
}

// Transaction is all that is to be written, on the condition that no record of Core that was loaded has changed.
func (tx *Tx) Transaction() store.Transaction {
	t := tx.Writes
	for _, kind := range Core {
		tx.slot(kind).write(&t)
	}
	tx.addEvents(&t)
	if len(t.Do) > 0 {
		for _, kind := range Core {
			tx.slot(kind).condition(&t)
		}
	}
	return t
}

// addEvents adds the new events to a transaction, a nanosecond apart, so that each has its key.
func (tx *Tx) addEvents(t *store.Transaction) {
	for i, event := range tx.newEvents {
		event.MAC, event.Name = tx.MAC, tx.NameOr("")
		event.Time = tx.Now.Add(time.Duration(i))
		if event.Phase == "" {
			event.Phase = tx.Status().Phase
		}
		name := key.Event(tx.MAC, event.Time.UnixNano())
		t.Unchanged(name, 0)
		t.Put(name, Encode(event))
	}
}
