// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	usage       = 2
	unsupported = 3
	integrity   = 5
)

// refusedError is why the file is not an image that this reader accepts.
type refusedError struct {
	code int
	text string
}

func (e *refusedError) Error() string { return e.text }

func refuse(code int, format string, values ...any) error {
	return &refusedError{code, fmt.Sprintf(format, values...)}
}

// source is the file.
type source struct {
	file io.ReaderAt
	size int64
}

// at reads that range, all of it. A range that is not in the file is no fault of the disk below.
func (s source) at(from, size int64) ([]byte, error) {
	if from < 0 || size < 0 || from > s.size || size > s.size-from {
		return nil, refuse(integrity, "cut off: no %d bytes at %d in a file of %d", size, from, s.size)
	}
	data := make([]byte, size)
	if _, err := s.file.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data, nil
}

// fields takes numbers off the front of a buffer that is long enough.
type fields []byte

func (f *fields) bytes(n int) []byte {
	taken := (*f)[:n]
	*f = (*f)[n:]
	return taken
}

func (f *fields) u32() uint32 { return binary.LittleEndian.Uint32(f.bytes(4)) }

// number reads 8 bytes. From 2^63 on it is -1, which is within no limits.
func (f *fields) number() int64 {
	n := binary.LittleEndian.Uint64(f.bytes(8))
	if n > 1<<63-1 {
		return -1
	}
	return int64(n)
}
