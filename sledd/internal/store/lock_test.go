// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// later starts an etcd on a directory that is in use, and returns when it waits. end returns what comes of it.
func later(ctx context.Context, dir string) (end func() (*store.Etcd, error)) {
	waits, ended := make(chan struct{}), make(chan struct{})
	var etcd *store.Etcd
	var err error
	go func() {
		etcd, err = store.Embed(ctx, store.Embedded{Dir: dir, NoSync: true, Waits: func() { close(waits) }})
		close(ended)
	}()
	<-waits
	return func() (*store.Etcd, error) {
		<-ended
		return etcd, err
	}
}

// TestOneProcessHasADataDirectory: whichever of two processes stays has the socket, by which it asks for its usage.
func TestOneProcessHasADataDirectory(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	end := later(ctx, dir)
	stop()
	if _, err := end(); !errors.Is(err, context.Canceled) {
		t.Errorf("the one that waits is stopped: got %v, want %v", err, context.Canceled)
	}
	if _, err := first.Usage(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
	end = later(t.Context(), dir)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	second, err := end()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Usage(t.Context()); err != nil {
		t.Errorf("the second one: %v", err)
	}
}
