// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	socketScheme = "unix:"
	// socketMode lets the group of the socket's directory connect: the web server in front.
	socketMode = 0o660
	// longestSocket is the most bytes of a unix socket's path.
	longestSocket = 107
	// dialTime bounds the question whether somebody serves on a socket.
	dialTime = time.Second
)

// socketPath returns the path in a --listen that names a unix socket.
func socketPath(address string) (string, bool) { return strings.CutPrefix(address, socketScheme) }

// checkSocket refuses what cannot be the path of a socket.
func checkSocket(path string) error {
	if filepath.IsAbs(path) && filepath.Clean(path) == path && len(path) <= longestSocket {
		return nil
	}
	return fmt.Errorf("--listen %q: want an absolute path of at most %d bytes, as in %s/run/sled/sledd.sock",
		socketScheme+path, longestSocket, socketScheme)
}

// listenSocket opens a unix socket. Its group is that of the directory, if the directory has the setgid bit.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the socket
	}
	if err := os.Chmod(path, socketMode); err != nil {
		_ = listener.Close()
		return nil, err //nolint:wrapcheck // names the socket
	}
	return listener, nil
}

// removeStale removes the socket of a sledd that was killed. Whatever else is at the path stays.
func removeStale(ctx context.Context, path string) error {
	found, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err //nolint:wrapcheck // names the path
	}
	if found.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket: remove it, or listen elsewhere", path)
	}
	peer, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", path)
	if err == nil {
		_ = peer.Close()
		return fmt.Errorf("another process serves on %s: stop it first", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err //nolint:wrapcheck // names the path
	}
	return os.Remove(path) //nolint:wrapcheck // names the path
}
