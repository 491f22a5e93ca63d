// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// member is the folder of etcd in a data directory.
const member = "member"

// Backup returns a snapshot of the store, with its SHA-256 at the end.
func (e *Etcd) Backup(ctx context.Context) (io.ReadCloser, error) {
	text, err := e.members()[0].Snapshot(ctx)
	if err != nil {
		return nil, &UnavailableError{Operation: "snapshot", Err: err}
	}
	return text, nil
}

// Make makes the data directory of an embedded store. fill gets a directory beside the store, which takes its place
// once fill has returned: until then nobody can start it. A directory that holds a store is refused.
func Make(dir string, fill func(dir string) error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, member)); !os.IsNotExist(err) {
		return fmt.Errorf("data directory %s holds a store: stop sledd, and move %s away first", dir, member)
	}
	work, err := os.MkdirTemp(dir, "restore-")
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := fill(work); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(work, member), filepath.Join(dir, member)); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	return nil
}

// Unpack puts the store of a snapshot into a directory.
func Unpack(dir string, text io.Reader) error {
	file, restored := filepath.Join(dir, "snapshot"), filepath.Join(dir, "restored")
	defer func() { _ = os.Remove(file) }()
	if err := write(file, text); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	config := embed.NewConfig()
	config.Name = serverName
	err := snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{SnapshotPath: file, Name: config.Name,
		OutputDataDir: restored, PeerURLs: []string{embed.DefaultInitialAdvertisePeerURLs},
		InitialCluster:      config.InitialClusterFromName(config.Name),
		InitialClusterToken: config.InitialClusterToken})
	if err != nil {
		return fmt.Errorf("the backup is no snapshot of a store, or is damaged: %w", err)
	}
	if err := os.Rename(filepath.Join(restored, member), filepath.Join(dir, member)); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	return os.Remove(restored) //nolint:wrapcheck // names the file
}

func write(path string, text io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in our own directory
	if err != nil {
		return err //nolint:wrapcheck // names the file
	}
	if _, err = io.Copy(file, text); err != nil {
		_ = file.Close()
		return err //nolint:wrapcheck // by the caller
	}
	return file.Close() //nolint:wrapcheck // names the file
}
