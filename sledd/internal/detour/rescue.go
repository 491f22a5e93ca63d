// SPDX-License-Identifier: Apache-2.0

package detour

import (
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

type rescue api.Rescue

func (r *rescue) name() string { return "rescue" }

func (r *rescue) state() string { return "under rescue" }

func (r *rescue) steps() []operand.Line {
	return []operand.Line{{Word: "rescue", Operands: []operand.Pair{
		{Key: "keys", Value: strings.Join(r.AuthorizedKeys, "\n")}}}}
}

// entered notes the address and the host key to enter by, or why the node cannot be entered. A rescue lasts until an
// operator ends it.
func (r *rescue) entered(of Detour, line report.Line, from api.Address, now time.Time) (Detour, api.Event) {
	entered := api.Rescue{RescueSpec: r.RescueSpec, Started: r.Started, Entered: now}
	of.Rescue = &entered
	event := api.Event{Kind: "rescue"}
	if line.Code != 0 {
		entered.Reason = line.Reason
		event.Code, event.Detail = line.Code, nodetext.Clean("failed: "+line.Reason.String())
		return of, event
	}
	entered.Address, entered.HostKey = line.Entry.Address, line.Entry.HostKey
	if !from.IsZero() { // it is not known behind a proxy on this machine
		entered.Address = from
	}
	entered.Fingerprint = entered.HostKey.Fingerprint()
	event.Detail = nodetext.Clean(fmt.Sprintf("entered: root@%s, host key %s", entered.Address, entered.Fingerprint))
	return of, event
}

func (r *rescue) show(node *api.Node) { node.Rescue = (*api.Rescue)(r) }
