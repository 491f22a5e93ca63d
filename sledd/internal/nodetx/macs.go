// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"context"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// NodeOf returns the MAC that names the machine with an interface: that of the node which declares the interface as a
// further one, else the interface's own.
func (db *DB) NodeOf(ctx context.Context, address string) (string, error) {
	snapshot, err := db.Store.Read(ctx, store.Key(key.MACs+address))
	if err != nil {
		return "", err
	}
	if holder, found := snapshot.One(0); found {
		return string(holder.Value), nil
	}
	return address, nil
}

// Resolve returns the MAC of a node that is named by one of its MACs or by name. A MAC need not be known.
func (db *DB) Resolve(ctx context.Context, reference string) (string, error) {
	resolved, err := db.ResolveEach(ctx, []string{reference})
	if err != nil {
		return "", err
	}
	return resolved[0].MAC, resolved[0].Err
}

// Resolved is the MAC of a node, or why the reference to it names none.
type Resolved struct {
	MAC string
	Err error
}

// ResolveEach resolves many references, at one revision.
func (db *DB) ResolveEach(ctx context.Context, references []string) ([]Resolved, error) {
	list, queries := make([]Resolved, len(references)), make([]store.Query, len(references))
	for i, reference := range references {
		queries[i] = store.Key(key.Names + reference)
		if !mac.Looks(reference) {
			continue
		}
		address, err := mac.Parse(reference)
		if err != nil {
			list[i].Err = refusal.Value("node", reference, err)
			continue
		}
		list[i].MAC, queries[i] = address, store.Key(key.MACs+address)
	}
	snapshot, err := db.Store.Read(ctx, queries...)
	if err != nil {
		return nil, err
	}
	for i, reference := range references {
		if holder, found := snapshot.One(i); found && list[i].Err == nil {
			list[i].MAC = string(holder.Value)
		} else if list[i] == (Resolved{}) {
			list[i].Err = refusal.New(refusal.NotFound, "node %s does not exist", reference)
		}
	}
	return list, nil
}

// LoadOf reads records of the machine with an interface: in one read if the interface names the machine.
func (db *DB) LoadOf(ctx context.Context, nic string, wants ...Want) (*Tx, error) {
	var holder Slot[[]byte]
	tx, err := db.load(ctx, nic, append(wants[:len(wants):len(wants)], MACHolder(nic, &holder))...)
	if err != nil || holder.Get() == nil {
		return tx, err
	}
	return db.load(ctx, string(*holder.Get()), wants...)
}

// UpdateOf is Update of the machine with an interface.
func (db *DB) UpdateOf(ctx context.Context, nic string, decide func(tx *Tx) error) error {
	return db.update(ctx, func(ctx context.Context) (*Tx, error) { return db.LoadOf(ctx, nic, wantsOf(Core)...) }, decide)
}

// Interfaces returns the MACs of the machine: first the one that names it, then the further ones.
func (tx *Tx) Interfaces() []string { return append([]string{tx.MAC}, tx.Spec().MACs...) }

// MACHolder wants the MAC of the node that has an interface as a further one, in a slot of the caller's.
func MACHolder(address string, slot *Slot[[]byte]) Want { return Into(key.MACs+address, slot) }

// Take stages that an interface is a further one of the node. revision is that of its holder as read.
func (tx *Tx) Take(address string, revision int64) {
	tx.Writes.Unchanged(key.MACs+address, revision)
	tx.Writes.Put(key.MACs+address, []byte(tx.MAC))
}

// Drop stages that an interface is none of the node any more.
func (tx *Tx) Drop(address string) { tx.Writes.Delete(key.MACs + address) }
