// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"bytes"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Slot holds one record of the store, typed. Its value can be read only when the record was queried.
type Slot[T any] struct {
	key      string
	queried  bool
	stored   store.KV // as read
	value    *T       // nil: does not exist
	writable bool     // a changed value is written with the unit of work
}

// read panics when the record was not queried: otherwise a forgotten query would look like a record
// that does not exist.
func (s *Slot[T]) read() {
	if !s.queried {
		var value T
		panic(unqueried(value, s.key))
	}
}

// Get returns the record; nil when it does not exist.
func (s *Slot[T]) Get() *T {
	s.read()
	return s.value
}

// Made returns the record, an empty one when it does not exist.
func (s *Slot[T]) made() *T {
	if s.read(); s.value == nil {
		s.value = new(T)
	}
	return s.value
}

// Revision returns the revision of the record as read; 0 when it does not exist.
func (s *Slot[T]) Revision() int64 {
	s.read()
	return s.stored.Revision
}

// Stored returns the record's bytes as read.
func (s *Slot[T]) Stored() []byte {
	s.read()
	return s.stored.Value
}

// shed forgets the record's bytes, which only a change needs.
func (s *Slot[T]) shed() { s.stored.Value = nil }

func (s *Slot[T]) set(value *T) {
	s.read()
	s.value = value
}

// load takes the answer to the query of the record.
func (s *Slot[T]) load(key string, found []store.KV) error {
	*s = Slot[T]{key: key, queried: true, writable: s.writable}
	if len(found) == 0 {
		return nil
	}
	s.stored, s.value = found[0], new(T)
	if text, plain := any(s.value).(*[]byte); plain {
		*text = found[0].Value
		return nil
	}
	return Decode(found[0], s.value)
}

// write adds to a transaction that the record has not changed, if it was queried, and the change that was made of it.
func (s *Slot[T]) write(t *store.Transaction) {
	if !s.writable || !s.queried {
		return
	}
	if s.value == nil || isEmpty(*s.value) {
		if s.stored.Revision != 0 {
			t.Delete(s.key)
		}
		return
	}
	if text := Encode(s.value); !bytes.Equal(text, s.stored.Value) {
		t.Put(s.key, text)
	}
}

func (s *Slot[T]) condition(t *store.Transaction) {
	if s.queried {
		t.Unchanged(s.key, s.stored.Revision)
	}
}
