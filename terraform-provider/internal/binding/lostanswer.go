// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// askAgain is how often a sledd that is away is asked what it has stored.
const askAgain = 250 * time.Millisecond

// arrived finds out, until the deadline of the call, whether a binding was stored whose answer was lost, as when sledd
// was killed. Otherwise the state would lack it, and the next plan would refuse a machine that is bound already.
func (b *binding) arrived(ctx context.Context, client *api.Client, before api.Node, plan *model,
	stored *api.Binding) bool {
	for {
		found, err := client.Binding(ctx, before.MAC)
		if err == nil {
			*stored = found
			return b.sent(found, before.Binding, plan)
		}
		if !api.IsUnreachable(err) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(askAgain):
		}
	}
}

// sent reports whether a binding is what the plan sent, and is another one than before.
func (b *binding) sent(found api.Binding, before *api.Binding, plan *model) bool {
	if before != nil && before.Revision == found.Revision || found.Owner != b.site.Owner {
		return false
	}
	same := desired.Of(found).As(plan.Version()).Equal(plan.State())
	return same && (plan.Generation.IsUnknown() || plan.Generation.ValueInt64() == found.Generation)
}
