// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	// lockTime is how long a process waits for the end of another one that has the data directory.
	lockTime  = 60 * time.Second
	lockPause = 100 * time.Millisecond
)

// lock takes a data directory for this process, until the file is closed or the process ends. If another one has it,
// it calls waits once and then waits for its end. The lock of etcd itself waits without end, and only after
// it has taken over the socket, which the other process then removes.
func lock(ctx context.Context, dir string, limit time.Duration, waits func()) (*os.File, error) {
	file, err := os.Open(dir) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("another process still has it after %s: stop that one first", limit))
	defer cancel()
	tick := time.NewTicker(lockPause)
	defer tick.Stop()
	for first := true; ; first = false {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = file.Close()
			return nil, fmt.Errorf("data directory %s: lock: %w", dir, err)
		}
		if first && waits != nil {
			waits()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("data directory %s: %w", dir, context.Cause(ctx))
		}
	}
}
