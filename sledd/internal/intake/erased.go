// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// noteErased keeps which disks a tear-down that ended well has erased. It holds in this boot alone, and until the next
// plan that does more than to wait is issued.
func (tx *nodeTx) noteErased(line report.Line) {
	incumbent := tx.Admission().Incumbent
	if incumbent == nil || incumbent.Hello.Boot == "" {
		return
	}
	erased := api.Erased{BootID: incumbent.Hello.Boot}
	for _, e := range line.Erasures {
		if e.Result == report.Erased {
			erased.Level = e.Level // all of a step have one
			erased.Disks = append(erased.Disks, api.ErasedDisk{Name: e.Disk, Serial: e.Serial, WWN: e.WWN, Path: e.Path})
		}
	}
	if len(erased.Disks) > 0 {
		tx.Status().Erased = &erased
	}
}

// withoutErase leaves the wipe out of a pinned plan if this boot has erased its disk to the same level, and nothing has
// written to it since. So a node that was wiped and waits starts to write at once.
func (tx *nodeTx) withoutErase(desired plan.Plan, boot string) plan.Plan {
	erased := tx.Status().Erased
	level, selector, found := desired.ErasesFirst()
	if !found || erased == nil || erased.BootID != boot || erased.Level != level {
		return desired
	}
	disk, err := tx.Facts().Table().Choose(selector, nil)
	if err != nil {
		return desired
	}
	same := func(e api.ErasedDisk) bool {
		return e.Name.String() == disk.Name && e.Serial.String() == disk.Serial && e.WWN.String() == disk.WWN &&
			e.Path.String() == disk.Path
	}
	if slices.ContainsFunc(erased.Disks, same) {
		return desired.WithoutErase()
	}
	return desired
}
