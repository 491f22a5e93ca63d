// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrFull means that the store has reached its quota: it refuses every write until it is healed.
var ErrFull = errors.New("the store is full, nothing can be written: sledctl store heal")

// ErrDiskFull means that the disk of an embedded store has too little room: it is left to etcd, which ends the process
// when it cannot write.
var ErrDiskFull = errors.New("the disk of the store is full, nothing can be written")

// Usage is how full a store is.
type Usage struct {
	Bytes    int64 // of the database file, with pages that are free
	InUse    int64 // of these, with the history that is not compacted yet
	Quota    int64 // 0: unknown
	Revision int64 // the newest
	Alarms   []string
}

// Alarms of a store that takes no writes.
const (
	NoSpace = "NOSPACE" // it has reached its quota
	Disk    = "DISK"    // its disk has too little room
)

// room is an error if more bytes on the disk leave less room than etcd needs.
func (e *Etcd) room(more int64) error {
	if e.dir == "" {
		return nil
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(e.dir, &disk); err != nil {
		return fmt.Errorf("room in %s: %w", e.dir, err)
	}
	if free := int64(disk.Bavail)*disk.Bsize - more; free < e.reserve { //nolint:gosec // no disk has 2^63 bytes
		return fmt.Errorf("%w: %s has %d MiB left and needs %d: free some", ErrDiskFull, e.dir, free>>20, e.reserve>>20)
	}
	return nil
}

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
	if errors.Is(e.room(0), ErrDiskFull) {
		usage.Alarms = append(usage.Alarms, Disk)
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
	usage, err := e.Usage(ctx)
	if err != nil {
		return err
	}
	if err := e.room(usage.InUse); err != nil { // a copy is made beside the file
		return &UnavailableError{Operation: "defragment", Err: err}
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
