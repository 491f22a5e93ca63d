// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shortDir makes a directory with a short name, because a socket's path is short.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sledd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSocketIsForItsGroup(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	listener, err := listen(t.Context(), settings{listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	found, err := os.Stat(path)
	if err != nil || found.Mode() != os.ModeSocket|0o660 {
		t.Errorf("%v, %v", found, err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestSocketOfAKilledProcessIsReplaced(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	killed, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	killed.SetUnlinkOnClose(false)
	if err := killed.Close(); err != nil {
		t.Fatal(err)
	}
	listener, err := listen(t.Context(), settings{listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if _, err := listen(t.Context(), settings{listen: "unix:" + path}); err == nil ||
		!strings.Contains(err.Error(), "another process serves") {
		t.Errorf("a second one: %v", err)
	}
	if _, err := net.Dial("unix", path); err != nil {
		t.Errorf("the first one does not answer any more: %v", err)
	}
}

func TestFileIsNotReplacedByASocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), settings{listen: "unix:" + path}); err == nil ||
		!strings.Contains(err.Error(), "not a socket") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "data" {
		t.Errorf("%q, %v", text, err)
	}
}
