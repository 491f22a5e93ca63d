// SPDX-License-Identifier: Apache-2.0

// Package store is the narrow interface to etcd: consistent reads, compare-and-swap commits and one
// watch. It does not depend on nodes.
package store

import (
	"context"
	"errors"
	"time"
)

// Deadline bounds every single call to the store.
const Deadline = 3 * time.Second

// MaxOperations is what etcd accepts of each kind (conditions, changes) in one transaction by default.
const MaxOperations = 128

// ErrChanged means that a condition of a commit did not hold: another request was first. Nothing was written.
var ErrChanged = errors.New("changed by somebody else meanwhile")

// ErrCompacted means that the history before some revision is gone, so a watch cannot start there.
var ErrCompacted = errors.New("history is compacted")

// CompactedError is ErrCompacted with the revision after which history is held.
type CompactedError struct{ Revision int64 }

func (*CompactedError) Error() string { return ErrCompacted.Error() }

// Is makes it an ErrCompacted.
func (*CompactedError) Is(target error) bool {
	return target == ErrCompacted
}

// UnavailableError wraps any failure to reach the store or to be answered in time. It never means "not there".
type UnavailableError struct {
	Operation string
	Err       error
}

func (e *UnavailableError) Error() string { return "store: " + e.Operation + ": " + e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// KV is one key as stored.
type KV struct {
	Key      string
	Value    []byte
	Revision int64 // of its last change (etcd's mod_revision)
}

// Query reads one key, or with To a range of keys [Key, To).
type Query struct {
	Key         string
	To          string // exclusive end; empty: only Key
	Limit       int64  // 0: all
	MinRevision int64  // only keys changed at or after it; 0: all
	Descending  bool   // last keys first
	KeysOnly    bool
}

// Key queries one key.
func Key(key string) Query { return Query{Key: key} }

// Prefix queries all keys that begin with prefix.
func Prefix(prefix string) Query { return Query{Key: prefix, To: PrefixEnd(prefix)} }

// PrefixEnd is the first key after all keys with the prefix.
func PrefixEnd(prefix string) string {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return string(end[:i+1])
		}
	}
	return "\x00"
}

// Snapshot is the answer to several queries at one revision of the store; Results are in the order of the queries.
type Snapshot struct {
	Revision int64
	Results  [][]KV
}

// One returns the single key of query i, and whether it exists.
func (s Snapshot) One(i int) (KV, bool) {
	if len(s.Results[i]) == 0 {
		return KV{}, false
	}
	return s.Results[i][0], true
}

// Condition must hold for a commit. Revision 0: the key does not exist. With To: no key in [Key,
// To) changed after Revision.
type Condition struct {
	Key      string
	To       string
	Revision int64
}

// Operation changes one key, or with Delete removes it (and with To the range [Key, To)).
type Operation struct {
	Key    string
	Value  []byte
	Delete bool
	To     string
}

// Transaction is all or nothing.
type Transaction struct {
	If   []Condition
	Do   []Operation
	Life time.Duration // after which etcd deletes the keys that it puts, unless they are put again; 0: never
}

// Put adds a key to write.
func (t *Transaction) Put(key string, value []byte) {
	t.Do = append(t.Do, Operation{Key: key, Value: value})
}

// Delete adds a key to remove.
func (t *Transaction) Delete(key string) {
	t.Do = append(t.Do, Operation{Key: key, Delete: true})
}

// Unchanged adds the condition that the key still has that revision (0: does not exist).
func (t *Transaction) Unchanged(key string, revision int64) {
	t.If = append(t.If, Condition{Key: key, Revision: revision})
}

// Change is one change seen by a watch.
type Change struct {
	KV
	Deleted bool
}

// Found is the key as a read would return it: nothing if it was deleted.
func (c Change) Found() []KV {
	if c.Deleted {
		return nil
	}
	return []KV{c.KV}
}

// Batch is a number of changes of whole revisions, in order.
type Batch struct {
	Revision int64 // the last one
	Changes  []Change
}

// Store is what sledd needs of etcd.
type Store interface {
	// Read answers all queries at one revision. Errors are *UnavailableError.
	Read(ctx context.Context, queries ...Query) (Snapshot, error)
	// Commit does the operations if all conditions hold and returns the new revision, else ErrChanged. Other errors are
	// *UnavailableError, after which the commit may or may not have happened.
	Commit(ctx context.Context, t Transaction) (int64, error)
	// Watch calls see for every batch of changes under prefix after the revision, until the context ends (nil) or the
	// watch breaks (error; *CompactedError when the revision is too old).
	Watch(ctx context.Context, prefix string, after int64, see func(Batch)) error
	// Close lets go of connections, and stops an embedded etcd.
	Close() error
}
