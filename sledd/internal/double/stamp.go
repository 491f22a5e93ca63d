// SPDX-License-Identifier: Apache-2.0

package double

import (
	"fmt"
	"os"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// aheadCode is that of a disk which is ahead of its plan.
const aheadCode = 4

// isAhead compares the stamp of the disk with what a plan knows of (contract/plan.md, "Stamps").
func isAhead(disk, known string) bool {
	own, store := strings.Split(disk, "/"), strings.Split(known, "/")
	if len(own) != len(store) || own[0] != store[0] {
		return false
	}
	run, _ := plan.Number(own[len(own)-1])
	newest, _ := plan.Number(store[len(store)-1])
	return own[1] != store[1] || own[2] == store[2] && run > newest
}

// lose empties the disk, unless it is ahead of the plan: from here until it is configured nothing starts from it. The
// stamp is in none of its partitions.
func (n *node) lose(step operand.Line) (ahead bool, err error) {
	if known, is := step.Get("known"); is && isAhead(n.read("stamp"), known) {
		return true, nil
	}
	lost := []string{"disk", "stamp"}
	if _, one := step.Get("partition"); one {
		lost = lost[:1]
	}
	for _, name := range lost {
		if err := os.Remove(n.path(name)); err != nil && !os.IsNotExist(err) {
			return false, fmt.Errorf("%s: %w", name, err)
		}
	}
	return false, nil
}
