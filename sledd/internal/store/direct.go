// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"google.golang.org/grpc"
)

// direct is the key-value service of an etcd in this process, called without gRPC, which costs more than a small
// request itself. As with gRPC, a call returns when its context ends, whatever the disk does, and etcd stops only when
// no call runs: it would read memory that is not mapped any more.
type direct struct {
	etcdserverpb.KVClient
	calls   sync.RWMutex // held for reading by each call
	stopped bool
}

// bypass lets a client call the server in this process. The maintenance stays with gRPC.
func bypass(client *clientv3.Client, server *etcdserver.EtcdServer) *direct {
	calls := &direct{KVClient: adapter.KvServerToKvClient(v3rpc.NewQuotaKVServer(server))}
	client.KV = clientv3.NewKVFromKVClient(calls, client)
	watches := adapter.WatchServerToWatchClient(v3rpc.NewWatchServer(server))
	client.Watcher = clientv3.NewWatchFromWatchClient(watches, client)
	return calls
}

// stop waits for the calls that run; those that follow fail.
func (d *direct) stop() {
	d.calls.Lock()
	defer d.calls.Unlock()
	d.stopped = true
}

// Range implements etcdserverpb.KVClient.
func (d *direct) Range(ctx context.Context, in *etcdserverpb.RangeRequest,
	_ ...grpc.CallOption) (*etcdserverpb.RangeResponse, error) {
	return call(ctx, d, in, d.KVClient.Range)
}

// Txn implements etcdserverpb.KVClient. The only member has applied all that it acknowledged, so its own state is read
// without a round of raft, which would ask the others whether it still leads.
func (d *direct) Txn(ctx context.Context, in *etcdserverpb.TxnRequest,
	_ ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	for _, operation := range in.GetSuccess() {
		if one := operation.GetRequestRange(); one != nil {
			one.Serializable = true
		}
	}
	return call(ctx, d, in, d.KVClient.Txn)
}

// Compact implements etcdserverpb.KVClient.
func (d *direct) Compact(ctx context.Context, in *etcdserverpb.CompactionRequest,
	_ ...grpc.CallOption) (*etcdserverpb.CompactionResponse, error) {
	return call(ctx, d, in, d.KVClient.Compact)
}

func call[In, Out any](ctx context.Context, d *direct, in In,
	serve func(context.Context, In, ...grpc.CallOption) (*Out, error)) (*Out, error) {
	type answer struct {
		out *Out
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		d.calls.RLock()
		defer d.calls.RUnlock()
		if d.stopped {
			answered <- answer{err: rpctypes.ErrGRPCStopped}
			return
		}
		out, err := serve(ctx, in)
		answered <- answer{out, err}
	}()
	select {
	case got := <-answered:
		return got.out, got.err
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // as the client of gRPC does
	}
}
