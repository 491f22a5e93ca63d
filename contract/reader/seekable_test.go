// SPDX-License-Identifier: Apache-2.0

// Package reader shows that images are what other programs take them for: seekable zstd files.
package reader

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
	"github.com/klauspost/compress/zstd"
)

const (
	vectors = "../vectors/image/ok"
	stride  = 1_299_709 // bytes, a prime: offsets fall anywhere in frames
	window  = 70_000    // bytes of one read, often over the end of a frame
)

// The raw disk, as a plain zstd decoder gives it.
func rawDisk(t *testing.T, decoder *zstd.Decoder, path string) ([]byte, []byte) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := decoder.Reset(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(decoder)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return file, raw
}

func compareAt(t *testing.T, reader *seekable.Reader, raw []byte, offset int) {
	t.Helper()
	want := raw[offset:min(len(raw), offset+window)]
	got := make([]byte, len(want))
	if n, err := io.ReadFull(io.NewSectionReader(reader, int64(offset), int64(len(want))), got); err != nil {
		t.Fatalf("offset %d: %d bytes: %v", offset, n, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("offset %d: other bytes than the raw disk", offset)
	}
}

func TestImagesAreSeekable(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(vectors, "*.raw.zst"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d vectors: %v", len(paths), err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, raw := rawDisk(t, decoder, path)
			reader, err := seekable.NewReader(bytes.NewReader(file), decoder)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			for offset := 0; offset < len(raw); offset += stride {
				compareAt(t, reader, raw, offset)
			}
			compareAt(t, reader, raw, len(raw)-1)
		})
	}
}
