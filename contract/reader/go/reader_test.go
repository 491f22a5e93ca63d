// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const vectors = "../../vectors/image"

// lines returns the words of each line of a list, of which there are at least that many.
func lines(t *testing.T, name string, least, words int) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		found := strings.Fields(line)
		if len(found) != words {
			t.Fatalf("%s: %q has not %d words", name, line, words)
		}
		all = append(all, found)
	}
	if len(all) < least {
		t.Fatalf("%s: %d lines", name, len(all))
	}
	return all
}

func optional(word string) string { return strings.TrimPrefix(word, "-") }

func keysOf(word string) string {
	if word == "-" {
		return ""
	}
	return filepath.Join(vectors, "keys", word)
}

func checkRun(t *testing.T, name string, o options, code, raw string) {
	t.Helper()
	o.raw = filepath.Join(t.TempDir(), "raw")
	err := run(filepath.Join(vectors, name), o)
	if want, _ := strconv.Atoi(code); codeOf(err) != want {
		t.Errorf("%s %+v: code %d, want %s: %v", name, o, codeOf(err), code, err)
	}
	if err != nil || raw == "-" {
		return
	}
	disk, err := os.ReadFile(o.raw)
	if sum := sha256.Sum256(disk); err != nil || hex.EncodeToString(sum[:]) != raw {
		t.Errorf("%s %+v: another disk: %v", name, o, err)
	}
}

func TestVectors(t *testing.T) {
	for _, line := range lines(t, "manifest", 150, 5) {
		o := options{keys: keysOf(line[2])}
		checkRun(t, line[0], o, line[1], line[3])
		o.chunks = true
		checkRun(t, line[0], o, line[4], line[3])
	}
}

func TestSignaturesBesideTheFile(t *testing.T) {
	for _, line := range lines(t, "trust", 15, 5) {
		o := options{keys: keysOf(line[2]), digest: optional(line[3]), signature: optional(line[4])}
		checkRun(t, line[0], o, line[1], "-")
	}
}

func readBytes(file []byte, want trust) error {
	image, err := openImage(source{bytes.NewReader(file), int64(len(file))}, want)
	if err != nil {
		return err
	}
	return image.read(true, nil)
}

func TestAByteChangedOrMissing(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(vectors, "ok/signed.raw.zst"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := readKeys(keysOf("test.pub"))
	if err != nil || readBytes(file, trust{keys: keys}) != nil {
		t.Fatal(err)
	}
	for at := range file {
		changed := bytes.Clone(file)
		changed[at] ^= 0x41
		if code := codeOf(readBytes(changed, trust{keys: keys})); code != integrity && code != unsupported {
			t.Errorf("byte %d changed: code %d", at, code)
		}
		if code := codeOf(readBytes(file[:at], trust{})); code != integrity {
			t.Errorf("cut after %d bytes: code %d", at, code)
		}
	}
}

// A file whose index is one entry larger than any within the limits: code 3, as its content cannot be looked at.
func TestIndexBeyondTheLimits(t *testing.T) {
	const size = indexMax + entrySize
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	end := binary.LittleEndian.AppendUint32(nil, trailerMagic)
	end = append(binary.LittleEndian.AppendUint32(end, trailerSize), "sled-end\x01\x00\x00\x00\x00\x00\x00\x00"...)
	end = binary.LittleEndian.AppendUint64(end, skippable)
	end = append(binary.LittleEndian.AppendUint64(end, size), make([]byte, 32+8+64)...)
	end = append(end, make([]byte, skippable+2*8)...)
	end = append(end, 2, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8F)
	if _, err := file.WriteAt(end, skippable+size); err != nil {
		t.Fatal(err)
	}
	if err := run(file.Name(), options{}); codeOf(err) != unsupported {
		t.Errorf("code %d: %v", codeOf(err), err)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, path := range []string{"reader_test.go", "../../vectors/image/keys/test.key"} {
		if err := run(filepath.Join(vectors, "ok/gaps.raw.zst"), options{keys: path}); codeOf(err) != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}
