// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"

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
		disks = append(disks, disk.Read(func(key string) string { return facts[key].String() }))
	}
	return disks
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
