// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
)

// read proves all chunks, and gap frames if so requested, and writes the chunks to the disk unless it is nil.
func (m *image) read(gaps bool, disk io.WriterAt) error {
	d, err := newDecoder()
	if err != nil {
		return err
	}
	defer d.zstd.Close()
	for p := range m.index.pieces() {
		if p.chunk == nil && !gaps {
			continue
		}
		frame, err := m.source.at(p.at, p.frame)
		if err != nil {
			return err
		}
		if p.chunk == nil {
			if !bytes.Equal(frame, gapFrame(p.disk)) {
				return refuse(integrity, "gap frame at file offset %d", p.at)
			}
			continue
		}
		data, err := d.chunk(p.chunk, frame)
		if err != nil {
			return err
		}
		if disk != nil {
			if _, err := disk.WriteAt(data, p.chunk.offset); err != nil {
				return err
			}
		}
	}
	return nil
}
