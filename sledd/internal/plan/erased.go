// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// erasesFirst returns the level to which a plan erases the disk that it writes to, and that disk. False: it erases
// none, others too, or by a method that was named.
func (p Plan) erasesFirst() (level, selector string, found bool) {
	for i := 1; i < len(p.Steps); i++ {
		wipe, write := p.Steps[i-1], p.Steps[i]
		if wipe.Word != "wipe" || write.Word != "write" {
			continue
		}
		disks, _ := wipe.Get("disks")
		selector, _ = write.Get("disk")
		level, _ = wipe.Get("level")
		_, named := wipe.Get("method")
		return level, selector, disks == selector && !named
	}
	return "", "", false
}

// withoutErased returns a pinned plan without its wipe if the disk was erased to the same level in this boot, and
// nothing has written to it since. So a node that was wiped and waits starts to write at once.
func (p Plan) withoutErased(erased *api.Erased, table disk.Table) Plan {
	level, selector, found := p.erasesFirst()
	if !found || erased == nil || erased.Level != level {
		return p
	}
	chosen, err := table.Choose(selector, nil)
	if err != nil {
		return p
	}
	same := func(e api.ErasedDisk) bool {
		return e.Name.String() == chosen.Name && e.Serial.String() == chosen.Serial && e.WWN.String() == chosen.WWN &&
			e.Path.String() == chosen.Path
	}
	if slices.ContainsFunc(erased.Disks, same) {
		p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(step operand.Line) bool { return step.Word == "wipe" })
	}
	return p
}
