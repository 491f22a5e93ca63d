// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// namedLosses is how many nodes a refusal names in its sentence; the details have all.
const namedLosses = 20

// Losses are the nodes that a request for many would wipe.
type Losses struct {
	wiped, again []string
}

// Add counts a node; again: it had an image or was wiped before.
func (l *Losses) Add(node string, again bool) {
	l.wiped = append(l.wiped, node)
	if again {
		l.again = append(l.again, node)
	}
}

// Check refuses losses that exceed a limit.
func (l *Losses) Check(limits api.Limits) error {
	for _, one := range []struct {
		name  string
		limit *int
		nodes []string
		does  string
	}{{"max_reimages", limits.MaxReimages, l.again, "imaged or wiped again"},
		{"max_wipes", limits.MaxWipes, l.wiped, "wiped"}} {
		if one.limit == nil || len(one.nodes) <= *one.limit {
			continue
		}
		named := strings.Join(one.nodes[:min(len(one.nodes), namedLosses)], ", ")
		if more := len(one.nodes) - namedLosses; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		plural := "nodes"
		if len(one.nodes) == 1 {
			plural = "node"
		}
		message := fmt.Sprintf("nothing was changed: %s is %d, but %d %s would be %s: %s", one.name, *one.limit,
			len(one.nodes), plural, one.does, named)
		return &refusal.Error{Kind: refusal.Conflict, Message: message,
			Details: []refusal.Detail{{Location: "body." + one.name, Message: message, Value: one.nodes}}}
	}
	return nil
}
