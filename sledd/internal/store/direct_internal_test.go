// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
)

// held is a service whose calls begin, and end when they are released, whatever their context does.
type held struct {
	etcdserverpb.KVClient
	begun, released chan struct{}
}

func (h held) Txn(context.Context, *etcdserverpb.TxnRequest, ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	h.begun <- struct{}{}
	<-h.released
	return &etcdserverpb.TxnResponse{Succeeded: true}, nil
}

func TestACallEndsWithItsContextAlthoughTheDiskHangs(t *testing.T) {
	service := held{begun: make(chan struct{}), released: make(chan struct{})}
	defer close(service.released)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-service.begun
		cancel()
	}()
	calls := &direct{KVClient: service}
	if _, err := calls.Txn(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
}

func TestStopWaitsForCallsAndRefusesOthers(t *testing.T) {
	service := held{begun: make(chan struct{}), released: make(chan struct{})}
	calls := &direct{KVClient: service}
	answered := make(chan error, 1)
	go func() {
		_, err := calls.Txn(t.Context(), nil)
		answered <- err
	}()
	<-service.begun
	if calls.calls.TryLock() {
		t.Fatal("etcd could be stopped while a call runs")
	}
	close(service.released)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	calls.stop()
	if _, err := calls.Txn(t.Context(), nil); !errors.Is(err, rpctypes.ErrGRPCStopped) {
		t.Fatalf("after the stop: got %v, want %v", err, rpctypes.ErrGRPCStopped)
	}
}
