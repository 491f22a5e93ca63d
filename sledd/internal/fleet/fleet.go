// SPDX-License-Identifier: Apache-2.0

// Package fleet is the operators' side of sledd: nodes, images and bindings as they are declared
// and shown. All state is in the store; every change is a compare-and-swap, so that several sledds
// can run on one store.
package fleet

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/quirk"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Fleet answers operators.
type Fleet struct {
	*nodetx.DB
	ImageURLs []string    // bases that nodes fetch images from; with UploadURL, disks can be captured
	UploadURL string      // base that nodes put captured images to
	Quirks    *quirk.List // machines that are not started by kexec; nil: none
	Generator string      // of netplan; empty: that of Debian
	Multicast bool        // a sender sends images to many nodes at once
	// Recorded reports whether the console of a machine is recorded; nil: none is.
	Recorded func(mac string) bool

	dry  bool // nothing is stored
	uses uses // of operators' tokens
}

// nodeTx is a unit of work of an operator.
type nodeTx struct {
	*nodetx.Tx
	fleet *Fleet

	hashKey string // of the fleet, for user data

	before *nodetx.Binding // the change; nil: there was none
	done   bool            // it was satisfied
	why    []string        // the generation rises
}

// update is nodetx.DB.Update with a unit of work of this package.
func (f *Fleet) update(ctx context.Context, mac string, decide func(tx *nodeTx) error) error {
	return f.Update(ctx, mac, nil, func(tx *nodetx.Tx) error { return decide(&nodeTx{Tx: tx, fleet: f}) })
}

func (f *Fleet) load(ctx context.Context, mac string, wants ...nodetx.Want) (*nodeTx, error) {
	tx, err := f.Load(ctx, mac, wants...)
	if err != nil {
		return nil, err
	}
	return &nodeTx{Tx: tx, fleet: f}, nil
}

// Probe reads and writes a key; an error means that the store does not work.
func (f *Fleet) Probe(ctx context.Context) error {
	if _, err := f.Store.Read(ctx, store.Key(key.Probe)); err != nil {
		return err
	}
	var t store.Transaction
	t.Put(key.Probe, []byte(f.Now().Format(time.RFC3339)))
	_, err := f.Store.Commit(ctx, t)
	return err
}

// NoteBackup notes that a backup was read completely.
func (f *Fleet) NoteBackup(ctx context.Context) error {
	var t store.Transaction
	t.Put(key.Backup, nodetx.Encode(f.Now()))
	_, err := f.Store.Commit(ctx, t)
	return err
}

// NewestBackup returns when the newest complete backup was read; zero: never.
func (f *Fleet) NewestBackup(ctx context.Context) (at time.Time, err error) {
	snapshot, err := f.Store.Read(ctx, store.Key(key.Backup))
	if err != nil {
		return at, err
	}
	if kv, found := snapshot.One(0); found {
		err = nodetx.Decode(kv, &at)
	}
	return at, err
}

// QuirkList returns the quirks that are in force.
func (f *Fleet) QuirkList() api.QuirkList {
	return api.QuirkList{Items: append([]api.Quirk{}, f.Quirks.Items()...)}
}
