// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"math/bits"
	"regexp"
)

// Units and limits of the format.
const (
	chunkBytes    = 1 << 20
	granule       = 4096
	frameMax      = chunkBytes + 8<<10
	diskMax       = 1 << 50
	chunksMax     = 2_097_152
	partitionsMax = 128

	headSize      = 40
	partitionSize = 40
	entrySize     = 84
	indexMax      = headSize + partitionsMax*partitionSize + chunksMax*entrySize // bytes, 168 MiB
)

// index is its part about the whole image.
type index struct {
	sector, bytes, used int64
	isPartition         bool // of one partition: its bytes, not those of a disk
	partitions          []Partition
	chunks              []chunk
}

// chunk without its hash.
type chunk struct {
	offset, size int64 // on the disk
	at, frame    int64 // in the file
}

func (c chunk) end() int64 { return c.offset + c.size }

// number reads 8 bytes. From 2^63 on it is negative, which is below every limit.
func number(p []byte) int64 { return int64(little.Uint64(p)) } //nolint:gosec // as above

var content = regexp.MustCompile(`^([a-z0-9_]+)\x00*$`)

// parseIndex reads the index's payload. That its frames lie one after the other is seen by lay.
func parseIndex(data []byte) (index, error) {
	chunks, partitions, i, err := parseHead(data)
	if err != nil {
		return i, err
	}
	p, least := data[headSize:], int64(0)
	i.partitions = make([]Partition, 0, partitions)
	for range partitions {
		partition, err := parsePartition(p, i.bytes, least)
		if err != nil {
			return i, err
		}
		i.partitions = append(i.partitions, partition)
		p, least = p[partitionSize:], partition.Start
	}
	i.chunks = make([]chunk, 0, chunks)
	least = 0
	var used int64
	for range chunks {
		chunk, held, err := parseChunk(p, i.bytes, least)
		if err != nil {
			return i, err
		}
		i.chunks = append(i.chunks, chunk)
		used += held
		p, least = p[entrySize:], chunk.offset+chunkBytes
	}
	if used != i.used {
		return i, refuse(integrity, "its index states %d used bytes, and its bitmaps %d", i.used, used)
	}
	return i, nil
}

func parseHead(p []byte) (chunks, partitions uint32, i index, err error) {
	i.isPartition = len(p) >= headSize && string(p[:8]) == "sled-prt"
	if len(p) < headSize || (!i.isPartition && string(p[:8]) != "sled-img") {
		return 0, 0, i, refuse(integrity, "its index is none")
	}
	version := little.Uint32(p[8:])
	i.sector, i.bytes, i.used = int64(little.Uint32(p[12:])), number(p[16:]), number(p[24:])
	chunks, partitions = little.Uint32(p[32:]), little.Uint32(p[36:])
	switch {
	case version != 1:
		err = refuse(unsupported, "its index has version %d, 1 is read", version)
	case i.sector != 512 && i.sector != 4096:
		err = refuse(integrity, "its disk has sectors of %d bytes, want 512 or 4096", i.sector)
	case i.bytes <= 0 || i.bytes%i.sector != 0:
		err = refuse(integrity, "its disk has %d bytes, which no disk with sectors of %d can have", i.bytes, i.sector)
	case i.bytes > diskMax:
		err = refuse(unsupported, "its disk has %d bytes, at most 2^50 are read", i.bytes)
	case chunks > chunksMax || partitions > partitionsMax:
		err = refuse(unsupported, "its index has %d chunks and %d partitions, at most %d and %d are read", chunks, partitions,
			chunksMax, partitionsMax)
	case len(p) != headSize+int(partitions)*partitionSize+int(chunks)*entrySize:
		err = refuse(integrity, "its index has %d bytes, which does not fit %d chunks and %d partitions", len(p),
			chunks, partitions)
	}
	return chunks, partitions, i, err
}

func parsePartition(p []byte, disk, least int64) (Partition, error) {
	start, bytes, used := number(p), number(p[8:]), number(p[16:])
	name := content.FindSubmatch(p[24:partitionSize])
	switch {
	case start < least || start >= disk:
		return Partition{}, refuse(integrity, "a partition starts at %d, outside of the disk or below the one before", start)
	case bytes < 0 || bytes > disk-start:
		return Partition{}, refuse(integrity, "the partition at %d ends past the disk", start)
	case used < 0 || used > bytes:
		return Partition{}, refuse(integrity, "the partition at %d uses %d of %d bytes", start, used, bytes)
	case name == nil:
		return Partition{}, refuse(integrity, "the partition at %d has content %q, which is not a name", start,
			p[24:partitionSize])
	}
	return Partition{Start: start, Bytes: bytes, UsedBytes: used, Content: string(name[1])}, nil
}

// parseChunk returns a chunk and how many of its bytes are used.
func parseChunk(p []byte, disk, least int64) (chunk, int64, error) {
	offset, at, frame, bitmap := number(p), number(p[8:]), int64(little.Uint32(p[16:])), p[20:52]
	switch {
	case offset%chunkBytes != 0 || offset < least || offset >= disk:
		return chunk{}, 0, refuse(integrity, "a chunk is at %d of the disk, where none can be", offset)
	case frame == 0 || frame > frameMax:
		return chunk{}, 0, refuse(integrity, "the chunk at %d has a frame of %d bytes, want 1 to %d", offset, frame, frameMax)
	}
	c := chunk{offset: offset, size: min(chunkBytes, disk-offset), at: at, frame: frame}
	used, fits := usedBytes(bitmap, c.size)
	if !fits || used == 0 {
		return c, 0, refuse(integrity, "the chunk at %d uses no granule, or one past the disk's end", offset)
	}
	return c, used, nil
}

// usedBytes of a chunk; false when a granule past its end is used.
func usedBytes(bitmap []byte, size int64) (int64, bool) {
	granules := (size + granule - 1) / granule
	var used int64
	for i, b := range bitmap {
		if b>>max(0, min(8, granules-int64(i)*8)) != 0 {
			return 0, false
		}
		used += granule * int64(bits.OnesCount8(b))
	}
	if last := granules - 1; bitmap[last/8]>>(last%8)&1 == 1 {
		used -= granules*granule - size
	}
	return used, true
}
