// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/network"
)

// NetworkError is that the declared network of a node names interfaces that the machine has not reported.
type NetworkError struct{ Missing, Has []string }

func (e *NetworkError) Error() string {
	return fmt.Sprintf("network: this machine has no interface with MAC %s; it has %s", strings.Join(e.Missing, ", "),
		strings.Join(e.Has, ", "))
}

// configures reports whether the plan adapts a system, on a disk or in memory.
func (p Plan) configures() bool {
	return slices.ContainsFunc(p.Steps, func(step operand.Line) bool {
		system, _ := step.Get("system")
		return step.Word == "configure" && system != "keep"
	})
}

// checkNetwork refuses a declared network with interfaces that the machine lacks.
func checkNetwork(node api.NodeSpec, facts *api.Facts) error {
	names, err := network.NamesIn(node.Network)
	if err != nil {
		return err //nolint:wrapcheck // names the key
	}
	fault := &NetworkError{}
	for _, nic := range facts.NICs {
		fault.Has = append(fault.Has, nic["mac"].String())
	}
	for _, address := range names.MACs {
		if !slices.Contains(fault.Has, address) {
			fault.Missing = append(fault.Missing, address)
		}
	}
	if len(fault.Missing) > 0 {
		return fault
	}
	return nil
}
