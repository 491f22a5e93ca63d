// SPDX-License-Identifier: Apache-2.0

package imagefile

import "bytes"

const (
	gapMax  = 64 << 20  // bytes of disk that one gap frame stands for
	runMax  = 128 << 10 // bytes of one block of it
	gapHead = 10
)

// gapFrame is the size of the frame that stands for so many bytes without a used one.
func gapFrame(size int64) int64 { return gapHead + 4*((size+runMax-1)/runMax) }

// lay checks that each frame starts where the previous one ends. It returns the end of the last one
// in the file, and their number.
func lay(i index) (at, frames int64, err error) {
	gap := func(size int64) {
		full, rest := size/gapMax, size%gapMax
		at, frames = at+full*gapFrame(gapMax), frames+full
		if rest > 0 {
			at, frames = at+gapFrame(rest), frames+1
		}
	}
	var end int64
	for _, c := range i.chunks {
		gap(c.offset - end)
		if c.at != at {
			return 0, 0, refuse(integrity, "the frame of the chunk at %d is at %d of the file, and the ones before it end at %d",
				c.offset, c.at, at)
		}
		at, frames, end = at+c.frame, frames+1, c.end()
	}
	gap(i.bytes - end)
	return at, frames, nil
}

// tableSize is the size of the seek table's frame for so many frames of data and gaps.
func tableSize(frames int64) int64 { return skippable + 8*(frames+2) + footerSize }

// seekTable is the only one that an image with this index can have.
func seekTable(i index, indexSize, frames int64) []byte {
	size := tableSize(frames)
	table := bytes.NewBuffer(make([]byte, 0, size))
	put := func(values ...int64) {
		for _, value := range values {
			table.Write(little.AppendUint32(nil, uint32(value))) //nolint:gosec // sizes of frames and tables, all below 2^32
		}
	}
	gap := func(size int64) {
		for ; size > 0; size -= min(size, gapMax) {
			put(gapFrame(min(size, gapMax)), min(size, gapMax))
		}
	}
	put(seekTableMagic, size-skippable)
	var end int64
	for _, c := range i.chunks {
		gap(c.offset - end)
		put(c.frame, c.size)
		end = c.end()
	}
	gap(i.bytes - end)
	put(skippable+indexSize, 0, trailerFrame, 0, frames+2)
	table.WriteByte(0)
	put(footerMagic)
	return table.Bytes()
}
