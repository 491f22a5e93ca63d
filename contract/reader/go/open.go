// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

const (
	indexMagic     = 0x184D2A5A
	trailerMagic   = 0x184D2A5B
	seekTableMagic = 0x184D2A5E

	skippable    = 8 // bytes before the payload
	trailerSize  = 136
	trailerFrame = skippable + trailerSize
	footerSize   = 9
)

// image is a file whose index is proven.
type image struct {
	source source
	index  *index
}

// trailer is what its payload states.
type trailer struct {
	at, size int64 // of the index payload
	digest   []byte
}

// openImage reads seek table, trailer and index, and proves them in the order of the contract. An empty digest: any.
func openImage(s source, digest string) (*image, error) {
	tableAt, err := findTable(s)
	if err != nil {
		return nil, err
	}
	t, err := readTrailer(s, tableAt-trailerFrame)
	if err != nil {
		return nil, err
	}
	if found := "sha256:" + hex.EncodeToString(t.digest); digest != "" && digest != found {
		return nil, refuse(integrity, "digest %s, want %s", found, digest)
	}
	frame, err := s.at(t.at-skippable, skippable+t.size)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(frame[skippable:]); !isFrame(frame, indexMagic, t.size) || string(sum[:]) != string(t.digest) {
		return nil, refuse(integrity, "the index is not the one of the digest")
	}
	x, err := parseIndex(frame[skippable:])
	if err != nil {
		return nil, err
	}
	end, frames, err := x.layOut()
	if err != nil {
		return nil, err
	}
	if end != t.at-skippable || s.size-tableAt != skippable+8*(frames+2)+footerSize {
		return nil, refuse(integrity, "frames and seek table are of another size than follows from the index")
	}
	table, err := s.at(tableAt, s.size-tableAt)
	if err == nil && !x.isSeekTable(table, t.size, frames) {
		err = refuse(integrity, "the seek table is another one than follows from the index")
	}
	return &image{s, x}, err
}

// findTable returns where the frame of the seek table starts.
func findTable(s source) (int64, error) {
	footer, err := s.at(s.size-footerSize, footerSize)
	if err != nil {
		return 0, err
	}
	if string(footer[4:]) != "\x00\xb1\xea\x92\x8f" {
		return 0, refuse(integrity, "no seek table at the end")
	}
	at := s.size - skippable - 8*int64(binary.LittleEndian.Uint32(footer)) - footerSize
	if at < trailerFrame+skippable {
		return 0, refuse(integrity, "shorter than its seek table states")
	}
	return at, nil
}

func isZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }

func isFrame(frame []byte, magic uint32, size int64) bool {
	return binary.LittleEndian.Uint32(frame) == magic && int64(binary.LittleEndian.Uint32(frame[4:])) == size
}

func readTrailer(s source, at int64) (t trailer, err error) {
	frame, err := s.at(at, trailerFrame)
	if err != nil {
		return t, err
	}
	f := fields(frame[skippable:])
	if !isFrame(frame, trailerMagic, trailerSize) || string(f.bytes(8)) != "sled-end" {
		return t, refuse(integrity, "no trailer at %d", at)
	}
	if version := f.u32(); version != 1 {
		return t, refuse(unsupported, "trailer of version %d", version)
	}
	if f.u32() != 0 {
		return t, refuse(integrity, "the trailer has a reserved field that is not 0")
	}
	t = trailer{f.number(), f.number(), f.bytes(32)}
	if !isZero(f.bytes(72)) {
		return t, refuse(integrity, "the trailer does not end with zeros")
	}
	if t.at < skippable || t.size < 0 || t.size > at || t.at+t.size != at {
		return t, refuse(integrity, "the index has %d bytes at %d, and the trailer is at %d", t.size, t.at, at)
	}
	if t.size > indexMax {
		return t, refuse(unsupported, "an index of %d bytes", t.size)
	}
	return t, nil
}
