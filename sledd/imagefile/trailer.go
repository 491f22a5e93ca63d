// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// The end of an image: index, trailer and seek table, each a skippable frame of zstd.
const (
	skippable    = 8 // bytes before the payload: magic and size
	trailerSize  = 136
	trailerFrame = skippable + trailerSize
	footerSize   = 9 // of the seek table

	indexMagic     = 0x184D2A5A
	trailerMagic   = 0x184D2A5B
	seekTableMagic = 0x184D2A5E
	footerMagic    = 0x8F92EAB1
)

var little = binary.LittleEndian

// trailer is the position of the index and its expected digest.
type trailer struct {
	at, size int64 // of the index payload
	digest   [sha256.Size]byte
}

// parseFooter returns the size of the seek table's frame.
func parseFooter(p []byte, total int64) (int64, error) {
	if p[4] != 0 || little.Uint32(p[5:]) != footerMagic {
		return 0, refuse(integrity,
			"it does not end as an image: cut off, or another kind of file (sledc pack makes an image of any disk)")
	}
	size := skippable + 8*int64(little.Uint32(p)) + footerSize
	if size+trailerFrame+skippable > total {
		return 0, refuse(integrity, "it is shorter than its seek table states")
	}
	return size, nil
}

// parseTrailer reads the trailer's frame, which is at that place of the file.
func parseTrailer(frame []byte, place int64) (trailer, error) {
	var t trailer
	p := frame[skippable:]
	if !isFrame(frame, trailerMagic, trailerSize) || string(p[:8]) != "sled-end" {
		return t, refuse(integrity, "it has no trailer of an image (sledc pack makes an image of any disk)")
	}
	if version := little.Uint32(p[8:]); version != 1 {
		return t, refuse(unsupported, "its trailer has version %d, 1 is read", version)
	}
	if little.Uint32(p[12:]) != 0 || !isZero(p[64:]) {
		return t, refuse(integrity, "its trailer is damaged")
	}
	t.at, t.size = number(p[16:]), number(p[24:])
	if t.at < skippable || t.at > place || t.size != place-t.at {
		return t, refuse(integrity, "its index is not at the position in the trailer")
	}
	if t.size > indexMax {
		return t, refuse(unsupported, "its index has %d bytes, at most %d are read", t.size, indexMax)
	}
	copy(t.digest[:], p[32:])
	return t, nil
}

// isFrame reports whether a skippable frame of that kind and payload size starts here.
func isFrame(frame []byte, magic uint32, size int64) bool {
	return little.Uint32(frame) == magic && int64(little.Uint32(frame[4:])) == size
}

func isZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }
