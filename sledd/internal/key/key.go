// SPDX-License-Identifier: Apache-2.0

// Package key is the layout of the store (contract/store.md).
package key

import "fmt"

// Prefixes of the kinds of keys. Root is the prefix of them all.
const (
	Root      = "/sled/v1/"
	Nodes     = Root + "nodes/"
	Names     = Root + "names/"
	Images    = Root + "images/"
	Bindings  = Root + "bindings/"
	Status    = Root + "status/"
	Facts     = Root + "facts/"
	Logs      = Root + "logs/"
	Tokens    = Root + "tokens/"
	Events    = Root + "events/"
	Operators = Root + "operators/"
	Rollouts  = Root + "rollouts/"
	Runs      = Root + "runs/"
	Kexecs    = Root + "kexecs/"
	Detours   = Root + "detours/"
	Audit     = Root + "audit/"
	// Jobs, by their ids, which sort by time.
	Jobs = Root + "jobs/"
	// Erasures are the records of erased disks, and ErasureHead the end of their chain.
	Erasures    = Root + "erasures/"
	ErasureHead = Root + "erasure-head"
	// MACs are those of further interfaces that nodes boot from.
	MACs = Root + "macs/"
	// Networks are the networks of nodes that declare a document, rendered.
	Networks = Root + "networks/"
	// Addresses are those that these documents give to nodes.
	Addresses = Root + "addresses/"
	// Logins of browsers, by the SHA-256 of their cookies.
	Logins = Root + "logins/"
	// Admissions of nodes: claims, incumbents, windows.
	Admissions = Root + "admissions/"
)

// ClaimKey is the key that seals claims.
const ClaimKey = Root + "claim-key"

// Fleet is the identity of the fleet.
const Fleet = Root + "fleet"

// Probe is the key that is written to see whether the store takes writes.
const Probe = Root + "probe"

// Backup is when the newest complete backup was read.
const Backup = Root + "backup"

// EventsOf is the prefix of a node's events.
func EventsOf(mac string) string { return Events + mac + "/" }

// RunsOf is the prefix of the nodes of a rollout.
func RunsOf(rollout string) string { return Runs + rollout + "/" }

// Event is the key of an event that happened at that many nanoseconds since 1970; 19 digits, so that keys sort by time.
func Event(mac string, nanoseconds int64) string {
	return fmt.Sprintf("%s%019d", EventsOf(mac), nanoseconds)
}
