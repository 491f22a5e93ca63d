// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
)

// tryTime is how long one of several members has for a call. One that hangs answers no call and refuses none.
const tryTime = time.Second

// errUncertain: the second try of a commit found something changed, perhaps by the first one.
var errUncertain = errors.New("a member did not answer, and the change may have been made")

// members returns the members in the order in which they are called.
func (e *Etcd) members() []*clientv3.Client {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.order)
}

// demote makes a member the last one, if it was the first.
func (e *Etcd) demote(member *clientv3.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.order[0] == member {
		e.order = append(slices.Clone(e.order[1:]), member)
	}
}

// call calls the first member. If it does not answer in time, it becomes the last one, and the next one is called if
// the call may be made again. tries is how many were called.
func (e *Etcd) call(ctx context.Context, again bool,
	do func(ctx context.Context, member *clientv3.Client) error) (tries int, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	members := e.members()
	for _, member := range members {
		limit := e.try
		if tries++; tries == len(members) {
			limit = e.deadline // what is left of it
		}
		if err = within(ctx, limit, member, do); err == nil || answered(err) || ctx.Err() != nil {
			return tries, err
		}
		if e.demote(member); !again {
			return tries, err
		}
	}
	return tries, err
}

func within(ctx context.Context, limit time.Duration, member *clientv3.Client,
	do func(ctx context.Context, member *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx, member)
}

// answered reports whether an error is the cluster's answer to a call, and not that of a member that cannot serve it.
func answered(err error) bool {
	refused, is := errors.AsType[rpctypes.EtcdError](err)
	return is && refused.Code() != codes.Unavailable
}

// once reports whether a transaction cannot happen twice: one of its conditions is on a key that it changes.
func (t *Transaction) once() bool {
	return slices.ContainsFunc(t.If, func(condition Condition) bool {
		return slices.ContainsFunc(t.Do, func(o Operation) bool {
			return condition.To == "" && o.Key == condition.Key
		})
	})
}
