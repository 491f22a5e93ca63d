// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"slices"
	"strings"
)

// Whole refuses a choice of disks that would halve a set: one of them shares it with another disk of the machine that
// is none of them.
func (t Table) Whole(taken []Disk) error {
	for _, one := range taken {
		for _, other := range t {
			among := func(d Disk) bool { return d.Name == other.Name || samePhysical(d, other) }
			if other.Missing || !other.isDisk() || slices.ContainsFunc(taken, among) {
				continue
			}
			if set := sharedSet(one.Sets, other.Sets); set != "" {
				return refuse(Half, "disk %s (%s) is a member of the set %s, and so is %s (%s), which this step does not "+
					"take: wipe all its members in one step, or keep all", one.Name, one, set, other.Name, other)
			}
		}
	}
	return nil
}

// sharedSet returns the first set that is the same as one of the other's; empty: none.
func sharedSet(sets, others string) string {
	if sets == "" || others == "" {
		return ""
	}
	for set := range strings.SplitSeq(sets, ",") {
		for other := range strings.SplitSeq(others, ",") {
			if sameSet(set, other) {
				return set
			}
		}
	}
	return ""
}

// anySet is what is not known of a set: it may be any of its type, or any at all.
const anySet = "*"

func sameSet(a, b string) bool {
	if a == b || a == anySet || b == anySet {
		return true
	}
	typeOfA, idOfA, _ := strings.Cut(a, ":")
	typeOfB, idOfB, _ := strings.Cut(b, ":")
	return typeOfA == typeOfB && (idOfA == anySet || idOfB == anySet)
}

// Take returns the disks that a step takes: one for each selector, or "all" that are not left out. It refuses them if a
// set would be halved.
func (t Table) Take(selectors string, keep []string) ([]Disk, error) {
	var taken []Disk
	if selectors == "all" {
		kept, err := t.CheckKeep(keep)
		if err != nil {
			return nil, err
		}
		for _, v := range t.all(kept) {
			if v.Why == "" {
				taken = append(taken, v.Disk)
			}
		}
		return taken, t.Whole(taken)
	}
	for selector := range strings.SplitSeq(selectors, ";") {
		chosen, err := t.Choose(selector, keep)
		if err != nil {
			return nil, err
		}
		taken = append(taken, chosen)
	}
	return taken, t.Whole(taken)
}
