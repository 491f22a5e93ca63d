// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Erasure is the record of what a wipe did to one disk. Records form a chain: each holds the SHA-256 of the one before
// it. They are kept when the node is deleted.
type Erasure struct {
	Number     int64      `json:"number" doc:"Position in the chain, from 1"`
	Previous   string     `json:"previous" doc:"SHA-256 of the record before it; zeros for the first"`
	Time       time.Time  `json:"time" doc:"When sledd received the report"`
	Node       string     `json:"node" doc:"Name of the node then"`
	MAC        string     `json:"mac"`
	Generation int64      `json:"generation"`
	BootID     Identifier `json:"boot_id"`
	Step       int        `json:"step"`
	Admission  string     `json:"admission" doc:"Level at which the machine was admitted as the node"`

	Result string     `json:"result" enum:"good,failed,left" doc:"left: the disk was left out, and not touched"`
	Disk   Identifier `json:"disk" doc:"Name of the kernel; may change at each boot"`
	Serial Identifier `json:"serial"`
	WWN    Identifier `json:"wwn"`
	Path   Identifier `json:"path"`
	Model  Identifier `json:"model"`
	Bytes  int64      `json:"bytes"`
	Sector int64      `json:"sector"`

	Level     string  `json:"level" doc:"What was requested; empty: left out"`
	Method    string  `json:"method" doc:"What was done"`
	Verify    string  `json:"verify" doc:"sample, or full: all that was emptied was read back"`
	Read      int64   `json:"read" doc:"Bytes that were read back"`
	Samples   int64   `json:"samples" doc:"Samples of 4,096 bytes that were read; 0: none"`
	Seed      string  `json:"seed" doc:"Of the places of the samples (contract/erasure.md)"`
	Seconds   float64 `json:"seconds"`
	BadRanges int64   `json:"bad_ranges" doc:"Ranges that could not be written or read"`
	BadBytes  int64   `json:"bad_bytes"`
	Bad       string  `json:"bad" doc:"At most 64 of these, OFFSET+SIZE joined by commas"`
	Reason    Prose   `json:"reason" doc:"Why it failed or was left out"`

	Reported Identifier `json:"reported,omitzero" doc:"What the drive reported, after one of its commands"`
	Compared int64      `json:"compared,omitzero" doc:"Blocks that were compared with what they held before it"`

	Signature string `json:"signature" doc:"Ed25519, base64; empty: sledd has no key for it"`
}

// ErasureHead is the end of the chain.
type ErasureHead struct {
	Number    int64  `json:"number" doc:"Of the newest record; 0: there is none"`
	SHA256    string `json:"sha256" doc:"Of that record"`
	Signature string `json:"signature"`
}

// ErasureList is a part of the chain, the oldest record first.
type ErasureList struct {
	Items []Erasure   `json:"items" nullable:"false"`
	Head  ErasureHead `json:"head" doc:"Of the whole chain"`
}

// ErasureKey is the public key that records are signed with.
type ErasureKey struct {
	PEM string `json:"pem" doc:"Ed25519; empty: sledd has none"`
}

// Erased is what a wipe has erased.
type Erased struct {
	BootID string       `json:"boot_id" doc:"Boot in which it was"`
	Level  string       `json:"level"`
	Disks  []ErasedDisk `json:"disks" nullable:"false"`
}

// ErasedDisk is a disk that was erased.
type ErasedDisk struct {
	Name   Identifier `json:"name"`
	Serial Identifier `json:"serial,omitzero"`
	WWN    Identifier `json:"wwn,omitzero"`
	Path   Identifier `json:"path,omitzero"`
}
