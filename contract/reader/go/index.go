// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"math/bits"
	"strings"
)

const (
	chunkBytes    = 1 << 20
	granule       = 4096
	frameMax      = 1_056_768
	diskMax       = 1 << 50
	chunksMax     = 33_554_432
	partitionsMax = 128

	headSize, partitionSize, entrySize = 40, 40, 84

	indexMax = headSize + partitionsMax*partitionSize + chunksMax*entrySize
)

type index struct {
	sector, bytes, used int64
	chunks              []chunk
}

type chunk struct {
	offset, size int64 // on the disk
	at, frame    int64 // in the file
	used         [32]byte
	hash         [sha256.Size]byte
}

func (c *chunk) isUsed(i int64) bool { return c.used[i/8]>>(i%8)&1 == 1 }

// granules calls f with start and end of each granule, within the chunk.
func (c *chunk) granules(f func(used bool, start, end int64)) {
	for i := range (c.size + granule - 1) / granule {
		f(c.isUsed(i), i*granule, min(c.size, (i+1)*granule))
	}
}

func (c *chunk) usedBytes() (sum int64) {
	c.granules(func(used bool, start, end int64) {
		if used {
			sum += end - start
		}
	})
	return sum
}

func parseIndex(data []byte) (*index, error) {
	f := fields(data)
	if len(data) < headSize {
		return nil, refuse(integrity, "no index")
	}
	if magic := string(f.bytes(8)); magic != "sled-img" && magic != "sled-prt" {
		return nil, refuse(integrity, "no index")
	}
	if version := f.u32(); version != 1 {
		return nil, refuse(unsupported, "index of version %d", version)
	}
	x := &index{sector: int64(f.u32()), bytes: f.number(), used: f.number()}
	chunks, partitions := int64(f.u32()), int64(f.u32())
	switch {
	case x.sector != 512 && x.sector != 4096:
		return nil, refuse(integrity, "sectors of %d bytes", x.sector)
	case x.bytes <= 0 || x.bytes%x.sector != 0:
		return nil, refuse(integrity, "disk of %d bytes", x.bytes)
	case x.bytes > diskMax:
		return nil, refuse(unsupported, "disk of %d bytes", x.bytes)
	case chunks > chunksMax || partitions > partitionsMax:
		return nil, refuse(unsupported, "%d chunks and %d partitions", chunks, partitions)
	case int64(len(data)) != headSize+partitions*partitionSize+chunks*entrySize:
		return nil, refuse(integrity, "index of %d bytes for %d chunks and %d partitions", len(data), chunks, partitions)
	}
	if err := x.parsePartitions(&f, partitions); err != nil {
		return nil, err
	}
	return x, x.parseChunks(&f, chunks)
}

func (x *index) parsePartitions(f *fields, count int64) error {
	least := int64(0)
	for range count {
		start, size, used, content := f.number(), f.number(), f.number(), f.bytes(16)
		switch {
		case start < least || start >= x.bytes:
			return refuse(integrity, "partition starts at %d", start)
		case size < 0 || size > x.bytes-start:
			return refuse(integrity, "partition at %d has %d bytes", start, size)
		case used < 0 || used > size:
			return refuse(integrity, "partition at %d uses %d of %d bytes", start, used, size)
		case !isContent(string(content)):
			return refuse(integrity, "partition at %d has content %q", start, content)
		}
		least = start
	}
	return nil
}

// isContent reports whether it is a word, then only NUL.
func isContent(field string) bool {
	word := strings.TrimRight(field, "\x00")
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func (x *index) parseChunks(f *fields, count int64) error {
	least, sum := int64(0), int64(0)
	x.chunks = make([]chunk, count)
	for i := range x.chunks {
		c := &x.chunks[i]
		c.offset, c.at, c.frame = f.number(), f.number(), int64(f.u32())
		copy(c.used[:], f.bytes(32))
		copy(c.hash[:], f.bytes(sha256.Size))
		if c.offset < least || c.offset%chunkBytes != 0 || c.offset >= x.bytes {
			return refuse(integrity, "chunk at %d", c.offset)
		}
		if c.frame < 1 || c.frame > frameMax {
			return refuse(integrity, "chunk at %d has a frame of %d bytes", c.offset, c.frame)
		}
		c.size = min(chunkBytes, x.bytes-c.offset)
		if last := c.lastUsed(); last < 0 || last*granule >= c.size {
			return refuse(integrity, "chunk at %d has %d as its last used granule", c.offset, last)
		}
		least = c.offset + chunkBytes
		sum += c.usedBytes()
	}
	if sum != x.used {
		return refuse(integrity, "%d used bytes, and %d in the bitmaps", x.used, sum)
	}
	return nil
}

// lastUsed returns the number of the last used granule; -1: none.
func (c *chunk) lastUsed() int64 {
	for i := len(c.used) - 1; i >= 0; i-- {
		if c.used[i] != 0 {
			return int64(i*8 + bits.Len8(c.used[i]) - 1)
		}
	}
	return -1
}
