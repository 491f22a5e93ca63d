// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// A backup that was read to its end, here through the socket of sledd, is the newest one.
func TestTheNewestBackupIsKnown(t *testing.T) {
	s, _ := cramped(t)
	metric := func() string {
		_, after, _ := strings.Cut(s.admin(200, "GET", "/metrics", nil).Body, "\nsledd_backup_timestamp_seconds ")
		value, _, _ := strings.Cut(after, "\n")
		return value
	}
	if used := s.used(); !used.Backup.IsZero() || metric() != "0" {
		t.Errorf("before: %s, %q", used.Backup, metric())
	}
	client, err := api.New(api.Config{Server: "unix:" + s.Socket(), Token: sleddtest.AdminToken})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := client.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = snapshot.Close() }()
	if err := store.Unpack(t.TempDir(), snapshot); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(snapshot); err != nil || len(rest) > 0 {
		t.Fatalf("%d bytes behind the snapshot, %v", len(rest), err)
	}
	if used := s.used(); used.Backup.IsZero() || metric() == "0" || metric() == "" {
		t.Errorf("after: %s, %q", used.Backup, metric())
	}
}
