// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// Bits of the descriptor, the first byte after the magic.
const (
	descriptorLow = 0x1F // dictionary id, checksum, reserved, unused
	checksumOnly  = 0x04
	singleSegment = 0x20

	checksumSize = 4
	blockHead    = 3
	blockRun     = 1 // types
	blockNone    = 3
	blockMax     = 128 << 10
)

// head is what the header of a data frame declares.
type head struct {
	content uint64
	size    int // of the header itself
}

func parseHead(frame []byte) (head, string) {
	if len(frame) < 6 || string(frame[:4]) != "\x28\xb5\x2f\xfd" {
		return head{}, "no zstd frame"
	}
	descriptor, at := frame[4], 5
	if descriptor&descriptorLow != checksumOnly {
		return head{}, "no checksum, or a field for a dictionary id, or bits that no frame has"
	}
	if descriptor&singleSegment == 0 {
		if window := frame[at]; window != 0x48 && window != 0x50 {
			return head{}, "neither a single segment nor a window of 512 KiB or 1 MiB"
		}
		at++
	}
	width := map[byte]int{0: 0, 1: 2, 2: 4, 3: 8}[descriptor>>6]
	if descriptor>>6 == 0 && descriptor&singleSegment != 0 {
		width = 1
	}
	if width == 0 || len(frame) < at+width {
		return head{}, "no content size"
	}
	var field [8]byte
	copy(field[:], frame[at:at+width])
	content := binary.LittleEndian.Uint64(field[:])
	if width == 2 {
		content += 256
	}
	return head{content, at + width}, ""
}

// blocksEnd returns where the last block ends; negative: the frame ends before it does.
func blocksEnd(frame []byte, at int) int {
	for len(frame)-at >= blockHead {
		header := uint32(frame[at]) | uint32(frame[at+1])<<8 | uint32(frame[at+2])<<16
		size, kind := int(header>>3), header>>1&3
		if kind == blockNone || size > blockMax {
			return -1
		}
		if kind == blockRun {
			size = 1
		}
		at += blockHead + size
		if header&1 == 1 {
			return at
		}
	}
	return -1
}

// decoder decodes single frames. The history that it allows is the chunk, whatever window is declared.
type decoder struct{ zstd *zstd.Decoder }

func newDecoder() (decoder, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(chunkBytes))
	return decoder{d}, err
}

// chunk returns the proven bytes of a chunk.
func (d decoder) chunk(c *chunk, frame []byte) ([]byte, error) {
	h, wrong := parseHead(frame)
	switch {
	case wrong != "":
	case h.content != uint64(c.size): //nolint:gosec // positive
		wrong = "declares another size"
	case blocksEnd(frame, h.size)+checksumSize != len(frame):
		wrong = "is damaged, or is more than one frame"
	}
	if wrong != "" {
		return nil, refuse(integrity, "frame of the chunk at %d: %s", c.offset, wrong)
	}
	plain := binary.LittleEndian.AppendUint32([]byte("\x28\xb5\x2f\xfd\xa4"), uint32(c.size)) //nolint:gosec // 1 MiB
	data, err := d.zstd.DecodeAll(append(plain, frame[h.size:]...), make([]byte, 0, c.size))
	if err != nil || int64(len(data)) != c.size {
		return nil, refuse(integrity, "frame of the chunk at %d: %d bytes: %v", c.offset, len(data), err)
	}
	return data, c.prove(data)
}

// prove checks the hash, and that free granules are zeros.
func (c *chunk) prove(data []byte) error {
	total, clean := sha256.New(), true
	c.granules(func(used bool, start, end int64) {
		if used {
			total.Write(data[start:end])
		} else {
			clean = clean && isZero(data[start:end])
		}
	})
	if !clean || [sha256.Size]byte(total.Sum(nil)) != c.hash {
		return refuse(integrity, "the chunk at %d has not its hash, or a free granule that is not zeros", c.offset)
	}
	return nil
}
