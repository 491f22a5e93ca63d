// SPDX-License-Identifier: Apache-2.0

package rollout

import "github.com/sled-fleet/sled/sledd/api"

// Waves returns for each node, by its place in the given order, the number of its wave, from 1. The
// canary, if any, is the first wave. A node for whose label values a wave has no room waits for a
// later one; else the order is kept.
func Waves(spec api.RolloutSpec, labels []map[string]string) ([]int, error) {
	sizes, err := SizesOf(spec, len(labels))
	if err != nil {
		return nil, err
	}
	waves := make([]int, len(labels))
	room := sizes.Canary
	if room == 0 {
		room = sizes.Batch
	}
	for wave, left := 1, len(labels); left > 0; wave++ {
		left -= fill(waves, wave, room, spec.MaxUnavailable, labels)
		room = sizes.Batch
	}
	return waves, nil
}

// fill puts as many waiting nodes into a wave as it has room for, and returns their number: at
// least one, as every limit is at least 1.
func fill(waves []int, wave, room int, limits map[string]int, labels []map[string]string) int {
	type value struct{ label, value string }
	held, taken := map[value]int{}, 0
	for i := 0; i < len(waves) && taken < room; i++ {
		if waves[i] != 0 {
			continue
		}
		fits := true
		for label, most := range limits {
			has, labelled := labels[i][label]
			fits = fits && (!labelled || held[value{label, has}] < most)
		}
		if !fits {
			continue
		}
		for label := range limits {
			if has, labelled := labels[i][label]; labelled {
				held[value{label, has}]++
			}
		}
		waves[i] = wave
		taken++
	}
	return taken
}
