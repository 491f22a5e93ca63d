// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"fmt"
	"reflect"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Kind is a kind of record that a node has one of.
type Kind int

// The records of a node. A unit of work holds those of Core, and others that it is loaded with.
const (
	Node Kind = iota
	Status
	BindingOf
	Tokens
	KexecsOf
	DetourOf
	AdmissionOf
	Facts
	Log
	Network
)

// Core is the records that decide about a node: a commit requires that none of them has changed since.
var Core = []Kind{Node, Status, BindingOf, Tokens, KexecsOf, DetourOf, AdmissionOf}

// prefixes of the records' keys. This and slot list all records.
var prefixes = map[Kind]string{Node: key.Nodes, Status: key.Status, BindingOf: key.Bindings, Tokens: key.Tokens,
	KexecsOf: key.Kexecs,
	DetourOf: key.Detours, AdmissionOf: key.Admissions, Facts: key.Facts, Log: key.Logs,
	Network: key.Networks}

// KeyOf returns the key of a record.
func KeyOf(kind Kind, mac string) string { return prefixes[kind] + mac }

// records of a node, each in a slot of its type.
type records struct {
	node      Slot[api.NodeSpec]
	status    Slot[api.Status]
	binding   Slot[Binding]
	tokens    Slot[[]token.Record]
	kexecs    Slot[Kexecs]
	detour    Slot[detour.Detour]
	admission Slot[admission.State]
	facts     Slot[api.Facts]
	log       Slot[[]byte]
	network   Slot[api.RenderedNetwork]

	image  Slot[StoredImage]
	holder Slot[[]byte]
	events eventSlot
}

// record is a slot of whatever type.
type record interface {
	load(key string, found []store.KV) error
	write(t *store.Transaction)
	condition(t *store.Transaction)
	Revision() int64
	Stored() []byte
	shed()
}

func (r *records) slot(kind Kind) record {
	switch kind {
	case Node:
		return &r.node
	case Status:
		return &r.status
	case BindingOf:
		return &r.binding
	case Tokens:
		return &r.tokens
	case KexecsOf:
		return &r.kexecs
	case DetourOf:
		return &r.detour
	case AdmissionOf:
		return &r.admission
	case Facts:
		return &r.facts
	case Log:
		return &r.log
	case Network:
		return &r.network
	}
	panic(fmt.Sprintf("nodetx: no kind of record %d", kind))
}

// Want is a record, or several, that a unit of work is loaded with beside those of Core.
type Want interface {
	query(tx *Tx) store.Query
	load(tx *Tx, query store.Query, found []store.KV) error
}

func (k Kind) query(tx *Tx) store.Query { return store.Key(prefixes[k] + tx.MAC) }

func (k Kind) load(tx *Tx, query store.Query, found []store.KV) error {
	return tx.slot(k).load(query.Key, found)
}

type want struct {
	ask  func(tx *Tx) store.Query
	take func(tx *Tx, query store.Query, found []store.KV) error
}

func (w want) query(tx *Tx) store.Query { return w.ask(tx) }
func (w want) load(tx *Tx, query store.Query, found []store.KV) error {
	return w.take(tx, query, found)
}

// Image wants the image of a name; "" is the name of none.
func Image(name string) Want {
	return want{func(*Tx) store.Query { return store.Key(key.Images + name) },
		func(tx *Tx, query store.Query, found []store.KV) error { return tx.image.load(query.Key, found) }}
}

// NameHolder wants the MAC of the node that has a name.
func NameHolder(name string) Want {
	return want{func(*Tx) store.Query { return store.Key(key.Names + name) },
		func(tx *Tx, query store.Query, found []store.KV) error { return tx.holder.load(query.Key, found) }}
}

// Events wants the newest events of the node.
func Events(limit int64) Want {
	return want{func(tx *Tx) store.Query {
		query := store.Prefix(key.EventsOf(tx.MAC))
		query.Limit, query.Descending = limit, true
		return query
	}, func(tx *Tx, _ store.Query, found []store.KV) error { return tx.records.events.load(found) }}
}

// Into wants the record of a key in a slot of the caller's.
func Into[T any](key string, slot *Slot[T]) Want {
	return want{func(*Tx) store.Query { return store.Key(key) },
		func(_ *Tx, query store.Query, found []store.KV) error { return slot.load(query.Key, found) }}
}

// eventSlot holds events of the node, the newest first.
type eventSlot struct {
	queried bool
	list    []api.Event
}

func (s *eventSlot) load(found []store.KV) error {
	s.queried, s.list = true, make([]api.Event, len(found))
	for i, kv := range found {
		event, err := events.Read(kv)
		if err != nil {
			return undecodable(kv, err)
		}
		s.list[i] = event
	}
	return nil
}

func unqueried(value any, key string) string {
	return fmt.Sprintf("nodetx: a record of type %T (%s) is read, and was not queried", value, key)
}

// isEmpty reports whether a record is to be stored as none.
func isEmpty(value any) bool {
	v := reflect.ValueOf(value)
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}
