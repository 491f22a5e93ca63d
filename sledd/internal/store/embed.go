// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

const (
	socketName   = "etcd.sock"
	serverName   = "sledd"
	maxSocket    = 107  // bytes in a unix socket's path
	history      = "5m" // how long it is kept, for watches that resume
	startTimeout = 60 * time.Second
	never        = 1000 * time.Hour
	testDeadline = time.Minute // in place of Deadline, in tests
)

// Embedded is the configuration of etcd inside this process.
type Embedded struct {
	Dir    string // made with mode 0700; holds the data and the unix socket that etcdctl can use too
	Quota  int64  // bytes; 0: DefaultQuota
	NoSync bool   // no fsync, a quick election, no log, and a longer Deadline: for tests
	Waits  func() // called if another process has the directory, before its end is waited for; nil: nothing
}

// DefaultQuota is the size of an embedded store, in bytes, at which it refuses writes.
const DefaultQuota = 4 << 30

// reserve is the bytes of a disk that are left to etcd: two files of its log, of 64 MiB each.
const reserve = 128 << 20

// Embed starts an etcd of one member in this process. It listens only on a unix socket, which is for etcdctl. One
// process at a time has the directory.
func Embed(ctx context.Context, options Embedded) (*Etcd, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", options.Dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	socket := filepath.Join(dir, socketName)
	if len(socket) > maxSocket {
		return nil, fmt.Errorf("data directory %s: socket path is %d bytes long, at most %d are possible", dir,
			len(socket), maxSocket)
	}
	locked, err := lock(ctx, dir, lockTime, options.Waits)
	if err != nil {
		return nil, err
	}
	etcd, err := run(ctx, dir, socket, options)
	if err != nil {
		_ = locked.Close()
		return nil, err
	}
	stop := etcd.stop
	etcd.stop = func() {
		stop()
		_ = locked.Close() // the last: the next process makes the socket again
	}
	return etcd, nil
}

// run starts the server, and connects a client with it.
func run(ctx context.Context, dir, socket string, options Embedded) (*Etcd, error) {
	level := zap.NewAtomicLevelAt(zap.ErrorLevel)
	if options.NoSync {
		level.SetLevel(zap.FatalLevel) // it warns about its short timeouts
	}
	server, err := start(ctx, dir, socket, options, level)
	if err != nil {
		return nil, err
	}
	etcd, err := Dial([]string{"unix://" + socket}, TLS{})
	if err != nil {
		server.Close()
		return nil, err
	}
	if options.NoSync {
		etcd.deadline = testDeadline
	}
	calls := bypass(etcd.order[0], server.Server)
	etcd.newest = server.Server.KV().Rev
	etcd.dir, etcd.reserve = dir, reserve
	etcd.stop = func() {
		calls.stop()
		level.SetLevel(zap.FatalLevel) // it calls its own listeners' end an error
		server.Close()
	}
	return etcd, nil
}

func start(ctx context.Context, dir, socket string, options Embedded, level zap.AtomicLevel) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.Name = serverName
	logging := zap.NewProductionConfig()
	logging.Level = level
	logging.DisableStacktrace = true
	logger, err := logging.Build()
	if err != nil {
		return nil, fmt.Errorf("embedded etcd: log: %w", err)
	}
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	config.ListenClientUrls = []url.URL{{Scheme: "unix", Path: socket}}
	config.ListenPeerUrls = nil // one member has no peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.AutoCompactionMode = "periodic"
	config.AutoCompactionRetention = history
	config.QuotaBackendBytes = cmp.Or(options.Quota, DefaultQuota)
	// Slow requests are not logged at this level, yet each would be made a text first.
	config.WarningApplyDuration, config.WarningUnaryRequestDuration = never, never
	if config.UnsafeNoFsync = options.NoSync; options.NoSync {
		config.TickMs, config.ElectionMs = 10, 100
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("embedded etcd in %s: %w", dir, err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err = <-server.Err():
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(startTimeout):
		err = errors.New("not ready in time")
	}
	server.Close()
	return nil, fmt.Errorf("embedded etcd in %s: %w", dir, err)
}
