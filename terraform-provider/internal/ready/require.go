// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"fmt"
	"regexp"
	"strconv"
)

// requirement is how many nodes have to become ready.
type requirement struct {
	amount  int
	percent bool
}

var (
	allNodes        = requirement{100, true}
	requirementText = regexp.MustCompile(`^([0-9]{1,6})(%?)$`)
)

// parseRequirement reads all, a number of nodes, or a percentage of them.
func parseRequirement(text string) (requirement, error) {
	if text == "all" {
		return allNodes, nil
	}
	parts := requirementText.FindStringSubmatch(text)
	if parts == nil {
		return requirement{}, fmt.Errorf("require is %q: want all, a number of nodes such as 20, or a percentage "+
			"such as 90%%", text)
	}
	amount, err := strconv.Atoi(parts[1])
	percent := parts[2] != ""
	if err != nil || amount < 1 || percent && amount > 100 {
		return requirement{}, fmt.Errorf("require is %q: want at least 1 node, or 1%% to 100%%", text)
	}
	return requirement{amount, percent}, nil
}

// of returns how many nodes that is, rounded up.
func (r requirement) of(nodes int) (int, error) {
	if r.percent {
		return (nodes*r.amount + 99) / 100, nil
	}
	if r.amount > nodes {
		return 0, fmt.Errorf("require is %d, but nodes has only %d: that can never be met", r.amount, nodes)
	}
	return r.amount, nil
}
