// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// reader returns bytes of a file. The range lies within the file.
type reader func(at, size int64) ([]byte, error)

// read verifies an image of that size in the order of the contract: trailer, digest, index, then
// what follows from the index.
func read(total int64, from reader) (Image, error) {
	if total < footerSize {
		return Image{}, refuse(integrity, "it has %d bytes, which no image has", total)
	}
	footer, err := from(total-footerSize, footerSize)
	if err != nil {
		return Image{}, err
	}
	table, err := parseFooter(footer, total)
	if err != nil {
		return Image{}, err
	}
	place := total - table - trailerFrame
	frame, err := from(place, trailerFrame)
	if err != nil {
		return Image{}, err
	}
	t, err := parseTrailer(frame, place)
	if err != nil {
		return Image{}, err
	}
	i, err := readIndex(t, from)
	if err != nil {
		return Image{}, err
	}
	if err := checkConsequences(i, t, table, total, from); err != nil {
		return Image{}, err
	}
	return Image{
		Digest: "sha256:" + hex.EncodeToString(t.digest[:]), Bytes: i.bytes, UsedBytes: i.used, FileBytes: total,
		Sector:       i.sector,
		OnePartition: i.isPartition,
		Partitions:   i.partitions,
	}, nil
}

func readIndex(t trailer, from reader) (index, error) {
	frame, err := from(t.at-skippable, skippable+t.size)
	if err != nil {
		return index{}, err
	}
	if !isFrame(frame, indexMagic, t.size) {
		return index{}, refuse(integrity, "its index is not a separate frame")
	}
	payload := frame[skippable:]
	if sum := sha256.Sum256(payload); sum != t.digest {
		return index{}, refuse(integrity, "its index is damaged: it has SHA-256 %x, the trailer states %x", sum, t.digest)
	}
	return parseIndex(payload)
}

// checkConsequences checks that the file holds exactly what follows from the index. The table is
// allocated only when its size is right.
func checkConsequences(i index, t trailer, table, total int64, from reader) error {
	end, frames, err := lay(i)
	if err != nil {
		return err
	}
	if end != t.at-skippable || table != tableSize(frames) {
		return refuse(integrity, "its frames have another size than its index states")
	}
	there, err := from(total-table, table)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, seekTable(i, t.size, frames)) {
		return refuse(integrity, "its seek table does not follow from its index")
	}
	return nil
}
