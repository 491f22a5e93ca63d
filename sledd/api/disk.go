// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/disk"
)

// Disk is one disk of a node, or one path of it.
type Disk = disk.Disk

// Table is the reported disks of the machine, and those that earlier boots have reported and the newest has not.
func (f *Facts) Table() disk.Table {
	if f == nil {
		return nil
	}
	table := disk.Table(readDisks(f.Disks))
	for _, missing := range readDisks(f.Missing) {
		missing.Missing = true
		table = append(table, missing)
	}
	return table
}

func readDisks(reported []map[string]Identifier) []Disk {
	var disks []Disk
	for _, facts := range reported {
		disks = append(disks, readDisk(facts))
	}
	return disks
}

func readDisk(facts map[string]Identifier) Disk {
	return disk.Read(func(key string) string { return facts[key].String() })
}

// MissingIn returns the local disks that these facts know and newer ones of the same machine lack.
func (f *Facts) MissingIn(newer *Facts) []map[string]Identifier {
	if f == nil {
		return nil
	}
	var facts []map[string]Identifier
	gone := disk.Missing(f.Table(), newer.Table())
	for _, reported := range slices.Concat(f.Disks, f.Missing) {
		if i := slices.IndexFunc(gone, readDisk(reported).Same); i >= 0 {
			facts, gone = append(facts, reported), slices.Delete(gone, i, i+1)
		}
	}
	return facts
}

// Forget removes those missing disks that match, and reports whether there were any.
func (f *Facts) Forget(matches func(Disk) bool) bool {
	before := len(f.Missing)
	f.Missing = slices.DeleteFunc(f.Missing, func(reported map[string]Identifier) bool {
		return matches(readDisk(reported))
	})
	return len(f.Missing) < before
}

// Candidates are the disks that a selector may mean.
func (f *Facts) Candidates() []Disk {
	return slices.DeleteFunc(f.Table(), func(d Disk) bool { return !d.Candidate() })
}

// Matching returns those disks that a selector may choose (contract/plan.md, "Disk selectors"), or AllDisks, without
// those that are kept; as far as facts tell: what is mounted or in use is known to the node alone.
func Matching(selector string, keep []string, disks []Disk) []Disk {
	return disk.Matching(selector, keep, disks)
}

// MeantBy is a selector for people, with the disk that it means now as far as facts tell. One with a serial number is
// that already.
func MeantBy(selector string, keep []string, disks []Disk) string {
	found := Matching(selector, keep, disks)
	if strings.Contains(selector, "serial:") || len(found) != 1 || found[0].Missing {
		return selector
	}
	return fmt.Sprintf("%s, now %s,", selector, found[0])
}
