// SPDX-License-Identifier: Apache-2.0

package report

import "math"

// Received is what a write received (contract/report.md).
type Received struct {
	HTTP, Multicast int64 // bytes
	Packets, Lost   int64
	Rejected        int64 // frames
	Last            int64 // sequence
}

const (
	mostBytes   = 1 << 50
	mostPackets = 1 << 40
	mostFrames  = 1 << 21
)

// received reads all figures of a write that ended well, or none, and of no other step.
func (f *fields) received(verb string, code int) *Received {
	if _, found := f.line.Get("http"); !found || verb != "write" || code != 0 {
		return nil // done refuses what was not taken
	}
	return &Received{HTTP: f.number("http", 0, mostBytes), Multicast: f.number("multicast", 0, mostBytes),
		Packets: f.number("packets", 0, mostPackets), Lost: f.number("lost", 0, mostPackets),
		Rejected: f.number("rejected", 0, mostFrames), Last: f.number("last", 0, math.MaxUint32)}
}
