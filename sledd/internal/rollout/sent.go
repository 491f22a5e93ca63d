// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
)

// Sent is what the boot server sent of one image, by the reports of the nodes.
type Sent struct {
	Image     string  `json:"image"`
	FileBytes int64   `json:"file_bytes"`
	Nodes     int     `json:"nodes"`
	HTTP      int64   `json:"http"`      // bytes
	Multicast int64   `json:"multicast"` // bytes of packets, each counted once
	Copies    float64 `json:"copies"`    // both, as copies of the file
	Lost      int64   `json:"lost"`      // packets, at all nodes
	Rejected  int64   `json:"rejected"`  // chunks, at all nodes
}

const (
	packetBytes = 1440    // of a DATA packet (contract/multicast.md)
	mostAtOnce  = 1 << 31 // packets of one write: half of the sequence
)

// interval is a part of the sequence of a sender: from begin on, and before end.
type interval struct{ begin, end int64 }

// sentOf adds up what the nodes received, by image.
func sentOf(runs []api.NodeRun) []Sent {
	sums, parts := map[string]*Sent{}, map[string][]interval{}
	for _, run := range runs {
		for _, stage := range run.Stages {
			got := stage.Received
			if got == nil || got.FileBytes <= 0 {
				continue
			}
			sum := sums[got.Image]
			if sum == nil {
				sum = &Sent{Image: got.Image, FileBytes: got.FileBytes}
				sums[got.Image] = sum
			}
			sum.Nodes++
			sum.HTTP += got.HTTP
			sum.Lost += got.Lost
			sum.Rejected += got.Rejected
			if got.Packets > 0 {
				parts[got.Image] = append(parts[got.Image], intervalOf(got))
			}
		}
	}
	list := []Sent{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[name]
		sum.Multicast = together(parts[name]) * packetBytes
		sum.Copies = float64(sum.HTTP+sum.Multicast) / float64(sum.FileBytes)
		list = append(list, *sum)
	}
	return list
}

// intervalOf is what a sender sent while a node listened.
func intervalOf(got *api.Received) interval {
	return interval{got.Last + 1 - min(got.Packets+got.Lost, mostAtOnce), got.Last + 1}
}

// together counts the packets that are in any of the intervals. The sequence starts again at 0 behind 2^32 - 1.
func together(parts []interval) int64 {
	if len(parts) == 0 {
		return 0
	}
	first := parts[0].end
	for i, part := range parts {
		// Relative to the first one, as numbers of 32 bits are.
		end := int64(int32(uint32(part.end - first))) //nolint:gosec // that is meant
		parts[i] = interval{end - (part.end - part.begin), end}
	}
	slices.SortFunc(parts, func(a, b interval) int { return cmp.Compare(a.begin, b.begin) })
	sum, seen := int64(0), parts[0].begin
	for _, part := range parts {
		sum += max(0, part.end-max(seen, part.begin))
		seen = max(seen, part.end)
	}
	return sum
}
