// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrFull means that the store has reached its quota: it refuses every write until it is healed.
var ErrFull = errors.New("the store is full, nothing can be written: sledctl store heal")

// Usage is how full a store is.
type Usage struct {
	Bytes    int64 // of the database file, with pages that are free
	InUse    int64 // of these, with the history that is not compacted yet
	Quota    int64 // 0: unknown
	Revision int64 // the newest
	Alarms   []string
}

// NoSpace is the alarm of a store that has reached its quota.
const NoSpace = "NOSPACE"

// Usage asks one member how full it is. Members hold the same data.
func (e *Etcd) Usage(ctx context.Context) (Usage, error) {
	var status *etcdserverpb.StatusResponse
	var alarms *clientv3.AlarmResponse
	_, err := e.call(ctx, true, func(ctx context.Context, member *clientv3.Client) (err error) {
		one := etcdserverpb.NewMaintenanceClient(member.ActiveConnection())
		if status, err = one.Status(ctx, &etcdserverpb.StatusRequest{}); err != nil {
			return err //nolint:wrapcheck // by the caller
		}
		alarms, err = member.AlarmList(ctx)
		return err //nolint:wrapcheck // by the caller
	})
	if err != nil {
		return Usage{}, &UnavailableError{Operation: "status", Err: err}
	}
	usage := Usage{Bytes: status.DbSize, InUse: status.DbSizeInUse, Quota: status.DbSizeQuota,
		Revision: status.Header.Revision}
	for _, alarm := range alarms.Alarms {
		usage.Alarms = append(usage.Alarms, alarm.Alarm.String())
	}
	return usage, nil
}

// Compact drops the history before a revision. The current value of every key stays.
func (e *Etcd) Compact(ctx context.Context, revision int64) error {
	_, err := e.call(ctx, true, func(ctx context.Context, member *clientv3.Client) error {
		return compact(ctx, member, revision)
	})
	return err
}

func compact(ctx context.Context, member *clientv3.Client, revision int64, options ...clientv3.CompactOption) error {
	_, err := member.Compact(ctx, revision, options...)
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return &UnavailableError{Operation: "compact", Err: err}
	}
	return nil
}

// Heal drops the history of the store, frees unused pages and ends the alarm NOSPACE. Reads and writes wait
// meanwhile. The current value of every key stays.
func (e *Etcd) Heal(ctx context.Context) error {
	members := e.members()
	now, err := members[0].Get(ctx, "/", clientv3.WithCountOnly())
	if err != nil {
		return &UnavailableError{Operation: "read the revision", Err: err}
	}
	if err := compact(ctx, members[0], now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		return err
	}
	for _, member := range members {
		endpoint := member.Endpoints()[0]
		if _, err := member.Defragment(ctx, endpoint); err != nil {
			return &UnavailableError{Operation: "defragment " + endpoint, Err: err}
		}
	}
	alarms, err := members[0].AlarmList(ctx)
	if err != nil {
		return &UnavailableError{Operation: "alarms", Err: err}
	}
	for _, alarm := range alarms.Alarms {
		if alarm.Alarm != etcdserverpb.AlarmType_NOSPACE {
			continue
		}
		member := clientv3.AlarmMember{MemberID: alarm.MemberID, Alarm: alarm.Alarm}
		if _, err := members[0].AlarmDisarm(ctx, &member); err != nil {
			return &UnavailableError{Operation: "disarm " + NoSpace, Err: err}
		}
	}
	return nil
}
