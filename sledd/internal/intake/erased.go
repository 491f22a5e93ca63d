// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"github.com/sled-fleet/sled/sledd/api"
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
