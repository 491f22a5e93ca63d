// SPDX-License-Identifier: Apache-2.0

// Package imagefile reads the trailer and the index of a published image (contract/image.md) and
// verifies them against each other. It does not read the data frames; each node verifies those by
// the hashes in the index.
package imagefile

import (
	"errors"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	unsupported = api.CodeNotSupported
	integrity   = api.CodeIntegrity
)

// Image is the content of the trailer and the index of an image.
type Image struct {
	Digest    string // sha256:HEX of its index
	Bytes     int64  // size of the disk
	UsedBytes int64  // bytes of the disk that hold something
	FileBytes int64  // size of the file
	Sector    int64  // logical sector size of the disk, in bytes
	// OnePartition is whether it is of one partition of a disk, which has kind partition.
	OnePartition bool
	Partitions   []Partition
}

// CheckKind refuses an image that is declared with another kind: a disk would be wiped for the image of a partition.
func (i Image) CheckKind(spec api.ImageSpec) error {
	declared := spec.Holds()
	if i.OnePartition == (declared == api.PartitionImage) {
		return nil
	}
	if i.OnePartition {
		return refuse(unsupported, "it is of one partition: declare it with kind partition, not %s", declared)
	}
	return refuse(unsupported,
		"it is not of one partition, as its kind states: pack it with partition=, or leave kind out")
}

// Measure sets the attributes that are read from the image.
func (i Image) Measure(spec *api.ImageSpec) {
	spec.Digest, spec.Bytes, spec.FileBytes, spec.UsedBytes = i.Digest, i.Bytes, i.FileBytes, i.UsedBytes
}

// Partition of an image's disk, for people and tools.
type Partition struct {
	Start, Bytes, UsedBytes int64
	Content                 string // such as ext4
}

// RefusedError is why a file is not an image that may be used.
type RefusedError struct {
	Code   int // api.CodeIntegrity: it differs from the contract; api.CodeNotSupported: a later version or too large
	Reason string
}

func (e *RefusedError) Error() string { return e.Reason }

// IsRefused reports whether the file was read and is not a usable image, so that no other server of it can help.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

func refuse(code int, format string, values ...any) error {
	return &RefusedError{Code: code, Reason: fmt.Sprintf(format, values...)}
}

// Parse reads an image that is in memory as a whole.
func Parse(file []byte) (Image, error) {
	return read(int64(len(file)), func(at, size int64) ([]byte, error) { return file[at : at+size], nil })
}
