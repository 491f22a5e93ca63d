// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// apply is about what a server takes to end a transaction that its watchers know already.
const apply = 20 * time.Microsecond

// Watch implements Store. It breaks when its member no longer is the first one: the caller watches again, at another.
func (e *Etcd) Watch(caller context.Context, prefix string, after int64, see func(Batch)) error {
	ctx, end := context.WithCancelCause(clientv3.WithRequireLeader(caller))
	defer end(nil)
	member := e.members()[0]
	go e.probe(ctx, end, member, prefix)
	for answer := range member.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(after+1)) {
		if err := answer.Err(); err != nil {
			if errors.Is(err, rpctypes.ErrCompacted) {
				return &CompactedError{answer.CompactRevision}
			}
			return &UnavailableError{Operation: "watch " + prefix, Err: err}
		}
		if len(answer.Events) > 0 {
			seen := batch(answer)
			e.catchUp(ctx, seen.Revision)
			see(seen)
		}
	}
	if caller.Err() != nil {
		return nil
	}
	return &UnavailableError{Operation: "watch " + prefix, Err: cmp.Or(context.Cause(ctx), errors.New("watch ended"))}
}

// catchUp waits until a read finds a revision: a server tells its watchers of a change just before.
func (e *Etcd) catchUp(ctx context.Context, revision int64) {
	for e.newest != nil && e.newest() < revision && ctx.Err() == nil {
		<-time.After(apply)
	}
}

func batch(answer clientv3.WatchResponse) Batch {
	batch := Batch{Revision: answer.Header.Revision, Changes: make([]Change, len(answer.Events))}
	for i, event := range answer.Events {
		batch.Changes[i] = Change{
			KV:      KV{string(event.Kv.Key), event.Kv.Value, event.Kv.ModRevision},
			Deleted: event.Type == clientv3.EventTypeDelete,
		}
		batch.Revision = event.Kv.ModRevision
	}
	return batch
}

// probe reads at intervals, as a member that hangs keeps its connections, and the shortest keepalive of gRPC is 10 s.
// It ends a watch at a member that no longer is the first one.
func (e *Etcd) probe(ctx context.Context, end context.CancelCauseFunc, member *clientv3.Client, key string) {
	if len(e.members()) == 1 {
		return
	}
	tick := time.NewTicker(e.try)
	defer tick.Stop()
	for e.members()[0] == member {
		_, _ = e.Read(ctx, Key(key)) // if the member does not answer, another one is the first
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	end(errors.New("the member does not answer"))
}
