// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// Etcd is a Store on an etcd server or cluster.
type Etcd struct {
	client   *clientv3.Client
	deadline time.Duration
	stop     func() // of an embedded server
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
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            endpoints,
		TLS:                  config,
		DialKeepAliveTime:    5 * time.Second,
		DialKeepAliveTimeout: Deadline,
		Logger:               zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 5 * time.Second, Timeout: Deadline, PermitWithoutStream: false,
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd client for %v: %w", endpoints, err)
	}
	return &Etcd{client: client, deadline: Deadline}, nil
}

// Read implements Store.
func (e *Etcd) Read(ctx context.Context, queries ...Query) (Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	operations := make([]clientv3.Op, len(queries))
	for i, query := range queries {
		operations[i] = query.operation()
	}
	answer, err := e.client.Txn(ctx).Then(operations...).Commit()
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
	ctx, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	conditions := make([]clientv3.Cmp, len(t.If))
	for i, c := range t.If {
		if c.To == "" {
			conditions[i] = clientv3.Compare(clientv3.ModRevision(c.Key), "=", c.Revision)
		} else {
			conditions[i] = clientv3.Compare(clientv3.ModRevision(c.Key).WithRange(c.To), "<", c.Revision+1)
		}
	}
	operations := make([]clientv3.Op, len(t.Do))
	for i, o := range t.Do {
		switch {
		case o.Delete && o.To != "":
			operations[i] = clientv3.OpDelete(o.Key, clientv3.WithRange(o.To))
		case o.Delete:
			operations[i] = clientv3.OpDelete(o.Key)
		default:
			operations[i] = clientv3.OpPut(o.Key, string(o.Value))
		}
	}
	answer, err := e.client.Txn(ctx).If(conditions...).Then(operations...).Commit()
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return 0, &UnavailableError{Operation: "commit " + t.first(), Err: ErrFull}
	}
	if err != nil {
		return 0, &UnavailableError{Operation: "commit " + t.first(), Err: err}
	}
	if !answer.Succeeded {
		return 0, ErrChanged
	}
	return answer.Header.Revision, nil
}

func (t *Transaction) first() string {
	if len(t.Do) == 0 {
		return "nothing"
	}
	return t.Do[0].Key
}

// Watch implements Store.
func (e *Etcd) Watch(ctx context.Context, prefix string, after int64, see func(Batch)) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	channel := e.client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(after+1))
	for answer := range channel {
		if err := answer.Err(); err != nil {
			if errors.Is(err, rpctypes.ErrCompacted) {
				return &CompactedError{answer.CompactRevision}
			}
			return &UnavailableError{Operation: "watch " + prefix, Err: err}
		}
		if len(answer.Events) == 0 {
			continue
		}
		batch := Batch{Revision: answer.Header.Revision, Changes: make([]Change, len(answer.Events))}
		for i, event := range answer.Events {
			batch.Changes[i] = Change{
				KV:      KV{string(event.Kv.Key), event.Kv.Value, event.Kv.ModRevision},
				Deleted: event.Type == clientv3.EventTypeDelete,
			}
			batch.Revision = event.Kv.ModRevision
		}
		see(batch)
	}
	if ctx.Err() != nil {
		return nil // the caller ended it
	}
	return &UnavailableError{Operation: "watch " + prefix, Err: errors.New("watch ended")}
}

// Close implements Store.
func (e *Etcd) Close() error {
	err := e.client.Close()
	if e.stop != nil {
		e.stop()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close etcd client: %w", err)
	}
	return nil
}
