// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// ErasesFirst returns the level to which a plan erases the disk that it writes to, and that disk. False: it erases
// none, others too, or by a method that was named.
func (p Plan) ErasesFirst() (level, disk string, found bool) {
	for i := 1; i < len(p.Steps); i++ {
		wipe, write := p.Steps[i-1], p.Steps[i]
		if wipe.Word != "wipe" || write.Word != "write" {
			continue
		}
		disks, _ := wipe.Get("disks")
		disk, _ = write.Get("disk")
		level, _ = wipe.Get("level")
		_, named := wipe.Get("method")
		return level, disk, disks == disk && !named
	}
	return "", "", false
}

// OnlyWaits reports whether the plan does nothing but wait for the next one.
func (p Plan) OnlyWaits() bool { return len(p.Steps) == 1 && p.Steps[0].Word == "idle" }

// WithoutErase returns the plan without its wipe.
func (p Plan) WithoutErase() Plan {
	rest := p
	rest.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(step operand.Line) bool { return step.Word == "wipe" })
	return rest
}
