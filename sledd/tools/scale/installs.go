// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/double"
	"github.com/sled-fleet/sled/sledd/internal/erasure"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	installedNodes = 1000
	installs       = 500 // of each
	mostEvents     = 500 // of a node (contract/store.md)
)

// installs measures the store of 1,000 nodes that were installed 500 times each: once by machines, and their events and
// records of wiped disks are repeated.
func (b *bench) installs(ctx context.Context) error {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	macs, err := s.declare(ctx, group, min(b.nodes, installedNodes))
	if err != nil {
		return err
	}
	if err := s.bindAll(ctx, macs); err != nil {
		return err
	}
	fleet := s.powerOn(ctx, macs, time.Second, double.Settings{})
	err = fleet.operational(ctx)
	if fleet.off(); err != nil {
		return err
	}
	s.kill()
	if err := fill(ctx, s.file("data"), macs); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	usage, err := s.HealStore(ctx)
	if err != nil {
		return err //nolint:wrapcheck // clear enough
	}
	b.note("store", float64(usage.Bytes)/1e6, "MB", "1000 MB")
	s.kill()
	begin := time.Now()
	if err := s.start(ctx); err != nil {
		return err
	}
	b.note("kill -9 until it serves", time.Since(begin).Seconds(), "s", "5 s")
	b.note("CPU of sledd", s.cpu(), "s", "")
	begin = time.Now()
	for _, err := range s.Nodes(ctx, api.Filter{}) {
		if err != nil {
			return err //nolint:wrapcheck // clear enough
		}
	}
	b.note("list of all nodes", time.Since(begin).Seconds(), "s", "1 s")
	return nil
}

// fill repeats what the store has of one installation of each node.
func fill(ctx context.Context, dir string, macs []string) error {
	etcd, err := store.Embed(ctx, store.Embedded{Dir: dir})
	if err != nil {
		return err //nolint:wrapcheck // names the folder
	}
	defer etcd.Close()
	w := &writer{store: etcd}
	record, err := erasure.Encode(api.Erasure{Time: time.Now().UTC().Truncate(time.Second), Node: "n1", MAC: macs[0],
		Generation: installs, Previous: strings.Repeat("0", 64), Signature: strings.Repeat("0", 88)})
	if err != nil {
		return err //nolint:wrapcheck // clear enough
	}
	for i, mac := range macs {
		found, err := etcd.Read(ctx, store.Prefix(key.EventsOf(mac)))
		if err != nil {
			return err //nolint:wrapcheck // names the operation
		}
		events := found.Results[0]
		for n := len(events); n < mostEvents; n++ {
			at := time.Now().Add(-time.Duration(n) * time.Hour)
			w.put(ctx, key.Event(mac, at.UnixNano()), events[n%len(events)].Value)
		}
		for n := range installs {
			w.put(ctx, fmt.Sprintf("%s%012d", key.Erasures, i*installs+n+1), append(record, '\n'))
		}
	}
	w.flush(ctx)
	return w.err
}

// writer puts many keys.
type writer struct {
	store store.Store
	next  store.Transaction
	err   error // the first
}

func (w *writer) put(ctx context.Context, key string, value []byte) {
	w.next.Put(key, value)
	if len(w.next.Do) == store.MaxOperations {
		w.flush(ctx)
	}
}

func (w *writer) flush(ctx context.Context) {
	if _, err := w.store.Commit(ctx, w.next); w.err == nil {
		w.err = err
	}
	w.next = store.Transaction{}
}
