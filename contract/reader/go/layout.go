// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"iter"
)

const (
	gapMax  = 64 << 20
	runMax  = 128 << 10 // bytes that one block of a gap frame stands for
	gapHead = 10
)

// piece is a frame before the index: that of a chunk, or of a gap.
type piece struct {
	chunk     *chunk // nil: a gap
	disk      int64  // bytes of disk
	at, frame int64  // place and size in the file
}

func gapFrameSize(disk int64) int64 { return gapHead + 4*((disk+runMax-1)/runMax) }

// gapSize returns the bytes of all frames of a gap.
func gapSize(disk int64) int64 {
	size := disk / gapMax * gapFrameSize(gapMax)
	if rest := disk % gapMax; rest > 0 {
		size += gapFrameSize(rest)
	}
	return size
}

func gapFrame(disk int64) []byte {
	frame := append([]byte("\x28\xb5\x2f\xfd\x80\x38"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(frame[6:], uint32(disk)) //nolint:gosec // at most 64 MiB
	for left := disk; left > 0; left -= runMax {
		block := uint32(min(runMax, left))<<3 | 1<<1
		if left <= runMax {
			block |= 1
		}
		frame = binary.LittleEndian.AppendUint32(frame, block) // the fourth byte is the zero to repeat
	}
	return frame
}

// layOut checks the place of each chunk. It returns where the frames end, and how many there are.
func (x *index) layOut() (end, frames int64, err error) {
	disk := int64(0)
	for i := range x.chunks {
		c := &x.chunks[i]
		gap := c.offset - disk
		end += gapSize(gap)
		if c.at != end {
			return 0, 0, refuse(integrity, "the frame of the chunk at %d is at %d, and the frames before it end at %d",
				c.offset, c.at, end)
		}
		end += c.frame
		frames += 1 + (gap+gapMax-1)/gapMax
		disk = c.offset + c.size
	}
	gap := x.bytes - disk
	return end + gapSize(gap), frames + (gap+gapMax-1)/gapMax, nil
}

// pieces yields every frame before the index.
func (x *index) pieces() iter.Seq[piece] {
	return func(yield func(piece) bool) {
		at, disk := int64(0), int64(0)
		gap := func(to int64) bool {
			for disk < to {
				n := min(gapMax, to-disk)
				if !yield(piece{nil, n, at, gapFrameSize(n)}) {
					return false
				}
				at, disk = at+gapFrameSize(n), disk+n
			}
			return true
		}
		for i := range x.chunks {
			c := &x.chunks[i]
			if !gap(c.offset) || !yield(piece{c, c.size, at, c.frame}) {
				return
			}
			at, disk = at+c.frame, c.offset+c.size
		}
		gap(x.bytes)
	}
}

// isSeekTable reports whether this is the seek table that follows from the index.
func (x *index) isSeekTable(table []byte, indexSize, frames int64) bool {
	pair := make([]byte, 0, 16)
	next := func(a, b int64) bool {
		pair = binary.LittleEndian.AppendUint32(pair[:0], uint32(a)) //nolint:gosec // within the limits
		pair = binary.LittleEndian.AppendUint32(pair, uint32(b))     //nolint:gosec // within the limits
		same := bytes.HasPrefix(table, pair)
		table = table[min(len(pair), len(table)):]
		return same
	}
	if !next(seekTableMagic, int64(len(table))-skippable) {
		return false
	}
	for p := range x.pieces() {
		if !next(p.frame, p.disk) {
			return false
		}
	}
	if !next(skippable+indexSize, 0) || !next(trailerFrame, 0) {
		return false
	}
	footer := binary.LittleEndian.AppendUint32(pair[:0], uint32(frames+2)) //nolint:gosec // within the limits
	return bytes.Equal(table, append(footer, 0, 0xB1, 0xEA, 0x92, 0x8F))
}
