// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"context"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
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

// Interfaces returns the MACs of the machine with an interface that boots: first the one that names it, then the
// further ones.
func (db *DB) Interfaces(ctx context.Context, address string) ([]string, error) {
	node, err := db.NodeOf(ctx, address)
	if err != nil {
		return nil, err
	}
	snapshot, err := db.Store.Read(ctx, store.Key(key.Nodes+node))
	if err != nil {
		return nil, err
	}
	all := []string{node}
	if kv, found := snapshot.One(0); found {
		var spec api.NodeSpec
		if err := Decode(kv, &spec); err != nil {
			return nil, err
		}
		all = append(all, spec.MACs...)
	}
	return all, nil
}

// MACHolder wants the MAC of the node that has an interface as a further one, in a slot of the caller's.
func MACHolder(address string, slot *Slot[[]byte]) Want { return Into(key.MACs+address, slot) }

// Take stages that an interface is a further one of the node. revision is that of its holder as read.
func (tx *Tx) Take(address string, revision int64) {
	tx.Writes.Unchanged(key.MACs+address, revision)
	tx.Writes.Put(key.MACs+address, []byte(tx.MAC))
}

// Drop stages that an interface is none of the node any more.
func (tx *Tx) Drop(address string) { tx.Writes.Delete(key.MACs + address) }
