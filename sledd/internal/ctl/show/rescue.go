// SPDX-License-Identifier: Apache-2.0

package show

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// rescue prints the rescue of a node, if it has one.
func (p *Printer) rescue(n api.Node) {
	if n.Rescue == nil {
		return
	}
	p.Section("rescue", [][2]string{
		{"started", wording.Time(n.Rescue.Started)}, {"entered", wording.Time(n.Rescue.Entered)},
		{"before", string(n.Status.Before)}, {"enter", wording.Rescue(n)},
		{"authorized keys", wording.Count(len(n.Rescue.AuthorizedKeys))},
	})
}
