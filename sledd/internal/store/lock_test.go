// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// later starts an etcd on a directory that is in use, and returns when it waits.
func later(ctx context.Context, dir string) (etcd *store.Etcd, end func() error) {
	waits, ended := make(chan struct{}), make(chan error, 1)
	etcd = &store.Etcd{}
	go func() {
		started, err := store.Embed(ctx, store.Embedded{Dir: dir, NoSync: true, Waits: func() { close(waits) }})
		if err == nil {
			*etcd = *started
		}
		ended <- err
	}()
	<-waits
	return etcd, func() error { return <-ended }
}

// TestOneProcessHasADataDirectory: whichever of two processes stays has the socket, by which it asks for its usage.
func TestOneProcessHasADataDirectory(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	_, end := later(ctx, dir)
	stop()
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Errorf("the one that waits is stopped: got %v, want %v", err, context.Canceled)
	}
	if _, err := first.Usage(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
	second, end := later(t.Context(), dir)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Usage(t.Context()); err != nil {
		t.Errorf("the second one: %v", err)
	}
}
