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
	for _, line := range lines(t, "manifest", 150, 4) {
		checkRun(t, line[0], options{}, line[1], line[2])
		checkRun(t, line[0], options{chunks: true}, line[3], line[2])
	}
}

func TestAnotherDigest(t *testing.T) {
	const gaps = "sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383"
	checkRun(t, "ok/gaps.raw.zst", options{digest: gaps}, "0", "-")
	checkRun(t, "ok/gaps.raw.zst", options{digest: "sha256:" + strings.Repeat("0", 64)}, "5", "-")
}

func readBytes(file []byte) error {
	image, err := openImage(source{bytes.NewReader(file), int64(len(file))}, "")
	if err != nil {
		return err
	}
	return image.read(true, nil)
}

func TestAByteChangedOrMissing(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(vectors, "ok/gaps.raw.zst"))
	if err != nil {
		t.Fatal(err)
	}
	if err := readBytes(file); err != nil {
		t.Fatal(err)
	}
	for at := range file {
		changed := bytes.Clone(file)
		changed[at] ^= 0x41
		if code := codeOf(readBytes(changed)); code != integrity && code != unsupported {
			t.Errorf("byte %d changed: code %d", at, code)
		}
		if code := codeOf(readBytes(file[:at])); code != integrity {
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
