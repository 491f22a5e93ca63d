// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Etcd is a Store on an etcd server or cluster.
type Etcd struct {
	deadline time.Duration // of a call
	try      time.Duration // of a call at one of several members
	stop     func()        // of an embedded server
	newest   func() int64  // revision that a read of an embedded server finds; nil: it is not in this process
	dir      string        // of an embedded server
	reserve  int64         // bytes of its disk that are left to it

	mu    sync.Mutex
	order []*clientv3.Client // of each member; the first one is called
}

// TLS names the PEM files for an external cluster; empty: none.
type TLS struct {
	CA, Cert, Key string
}

// Dial makes a client of an external cluster. It does not wait for the cluster: Read reports whether it is ready.
func Dial(endpoints []string, files TLS) (*Etcd, error) {
	var config *tls.Config
	if files != (TLS{}) {
		info := transport.TLSInfo{TrustedCAFile: files.CA, CertFile: files.Cert, KeyFile: files.Key}
		var err error
		if config, err = info.ClientConfig(); err != nil {
			return nil, fmt.Errorf("etcd TLS files: %w", err)
		}
	}
	etcd := &Etcd{deadline: Deadline, try: tryTime}
	for _, endpoint := range endpoints {
		client, err := clientv3.New(clientv3.Config{
			Endpoints: []string{endpoint},
			TLS:       config,
			Logger:    zap.NewNop(),
			DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.Config{BaseDelay: tryTime / 10, Multiplier: 2, Jitter: 0.2, MaxDelay: tryTime},
			})},
		})
		if err != nil {
			_ = etcd.Close()
			return nil, fmt.Errorf("etcd client for %s: %w", endpoint, err)
		}
		etcd.order = append(etcd.order, client)
	}
	return etcd, nil
}

// Read implements Store.
func (e *Etcd) Read(ctx context.Context, queries ...Query) (Snapshot, error) {
	operations := make([]clientv3.Op, len(queries))
	for i, query := range queries {
		operations[i] = query.operation()
	}
	var answer *clientv3.TxnResponse
	_, err := e.call(ctx, true, func(ctx context.Context, member *clientv3.Client) (err error) {
		answer, err = member.Txn(ctx).Then(operations...).Commit()
		return err //nolint:wrapcheck // by the caller
	})
	if err != nil {
		return Snapshot{}, &UnavailableError{Operation: "read " + queries[0].Key, Err: err}
	}
	snapshot := Snapshot{Revision: answer.Header.Revision, Results: make([][]KV, len(queries))}
	for i, response := range answer.Responses {
		for _, kv := range response.GetResponseRange().Kvs {
			snapshot.Results[i] = append(snapshot.Results[i], KV{string(kv.Key), kv.Value, kv.ModRevision})
		}
	}
	return snapshot, nil
}

func (q Query) operation() clientv3.Op {
	options := []clientv3.OpOption{clientv3.WithLimit(q.Limit)}
	if q.To != "" {
		options = append(options, clientv3.WithRange(q.To))
	}
	if q.MinRevision > 0 {
		options = append(options, clientv3.WithMinModRev(q.MinRevision),
			clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortAscend))
	}
	if q.Descending {
		options = append(options, clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend))
	}
	if q.KeysOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	return clientv3.OpGet(q.Key, options...)
}

// Commit implements Store.
func (e *Etcd) Commit(ctx context.Context, t Transaction) (int64, error) {
	conditions := make([]clientv3.Cmp, len(t.If))
	for i, c := range t.If {
		if c.To == "" {
			conditions[i] = clientv3.Compare(clientv3.ModRevision(c.Key), "=", c.Revision)
		} else {
			conditions[i] = clientv3.Compare(clientv3.ModRevision(c.Key).WithRange(c.To), "<", c.Revision+1)
		}
	}
	if err := e.room(0); err != nil {
		return 0, &UnavailableError{Operation: "commit " + t.first(), Err: err}
	}
	lease, err := e.lease(ctx, t)
	if err != nil {
		return 0, err
	}
	operations := make([]clientv3.Op, len(t.Do))
	for i, o := range t.Do {
		switch {
		case o.Delete && o.To != "":
			operations[i] = clientv3.OpDelete(o.Key, clientv3.WithRange(o.To))
		case o.Delete:
			operations[i] = clientv3.OpDelete(o.Key)
		default:
			operations[i] = clientv3.OpPut(o.Key, string(o.Value), clientv3.WithLease(lease))
		}
	}
	var answer *clientv3.TxnResponse
	tries, err := e.call(ctx, t.once(), func(ctx context.Context, member *clientv3.Client) (err error) {
		answer, err = member.Txn(ctx).If(conditions...).Then(operations...).Commit()
		return err //nolint:wrapcheck // by the caller
	})
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return 0, &UnavailableError{Operation: "commit " + t.first(), Err: ErrFull}
	case err != nil:
		return 0, &UnavailableError{Operation: "commit " + t.first(), Err: err}
	case !answer.Succeeded && tries > 1:
		return 0, &UnavailableError{Operation: "commit " + t.first(), Err: errUncertain}
	case !answer.Succeeded:
		return 0, ErrChanged
	}
	return answer.Header.Revision, nil
}

// lease grants the lease of a transaction whose keys end; 0: they do not.
func (e *Etcd) lease(ctx context.Context, t Transaction) (clientv3.LeaseID, error) {
	if t.Life == 0 {
		return clientv3.NoLease, nil
	}
	var granted *clientv3.LeaseGrantResponse
	_, err := e.call(ctx, true, func(ctx context.Context, member *clientv3.Client) (err error) {
		granted, err = member.Grant(ctx, int64(t.Life/time.Second))
		return err //nolint:wrapcheck // by the caller
	})
	if err != nil {
		return 0, &UnavailableError{Operation: "lease of " + t.first(), Err: err}
	}
	return granted.ID, nil
}

func (t *Transaction) first() string {
	if len(t.Do) == 0 {
		return "nothing"
	}
	return t.Do[0].Key
}

// Close implements Store.
func (e *Etcd) Close() error {
	var failed error
	for _, member := range e.members() {
		if err := member.Close(); err != nil && !errors.Is(err, context.Canceled) {
			failed = fmt.Errorf("close etcd client: %w", err)
		}
	}
	if e.stop != nil {
		e.stop()
	}
	return failed
}
