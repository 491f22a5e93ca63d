// SPDX-License-Identifier: Apache-2.0

// Package console reads the records of the serial consoles of nodes. Role console makes them: MAC.log, and MAC.log.1
// for what was recorded before. Each line starts with the time at which its first byte was recorded.
package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// Directory holds the records; empty: there are none.
type Directory string

// File is the name of the record of a node.
func (d Directory) File(address string) string {
	return filepath.Join(string(d), mac.Hyphens(address)+".log")
}

// Has reports whether the console of a node is recorded.
func (d Directory) Has(address string) bool {
	_, err := os.Stat(d.File(address))
	return d != "" && err == nil
}

// Mark tells one content of a record from a later one.
type Mark struct {
	inode    uint64
	size     int64
	modified int64
}

// Mark returns that of the record of a node.
func (d Directory) Mark(address string) (Mark, error) {
	if d == "" {
		return Mark{}, fs.ErrNotExist
	}
	info, err := os.Stat(d.File(address))
	if err != nil {
		return Mark{}, err //nolint:wrapcheck // names the file
	}
	mark := Mark{size: info.Size(), modified: info.ModTime().UnixNano()}
	if stat, known := info.Sys().(*syscall.Stat_t); known {
		mark.inode = stat.Ino
	}
	return mark, nil
}

// Tail returns the end of the record of a node, which starts with a whole line; also the end of the previous file if
// the current one is shorter than that many bytes.
func (d Directory) Tail(address string, bytes int64) ([]byte, error) {
	if d == "" {
		return nil, fs.ErrNotExist
	}
	recorded, whole, err := end(d.File(address), bytes)
	if err != nil {
		return nil, err
	}
	if missing := bytes - int64(len(recorded)); whole && missing > 0 {
		if earlier, _, err := end(d.File(address)+".1", missing); err == nil {
			recorded = append(earlier, recorded...)
		}
	}
	return recorded, nil
}

// end reads the last bytes of a file, without half a line, and reports whether that is the whole file.
func end(name string, bytes int64) ([]byte, bool, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, false, err //nolint:wrapcheck // names the file
	}
	file, err := os.Open(name) //nolint:gosec // a MAC below our own directory
	if err != nil {
		return nil, false, err //nolint:wrapcheck // names the file
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, false, err //nolint:wrapcheck // names the file
	}
	if info.Size() <= bytes {
		text, err := io.ReadAll(io.LimitReader(file, bytes))
		return text, true, err //nolint:wrapcheck // names the file
	}
	text, err := io.ReadAll(io.NewSectionReader(file, info.Size()-bytes-1, bytes+1)) // with the byte before
	return nodetext.Tail(text), false, err                                           //nolint:wrapcheck // names the file
}

// Missing reports whether an error is that a node has no record.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
