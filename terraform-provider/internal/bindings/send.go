// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// most is how many machines one call is about. Tests make it smaller.
var most = 5000

// order is one item of a call. Those that take over the owner's machines are sent in separate calls.
type order struct {
	api.BulkBinding
	takeOver bool
	clean    bool // what is left has no owner
}

// answers are the results of orders, by MAC.
type answers struct {
	bound  map[string]api.Binding
	gone   map[string]bool
	unsure map[string]bool // the answer was lost
}

// order is what a step sends.
func (c *comparison) order(mac string, s step, userData string) order {
	var o order
	switch s.kind {
	case unbind:
		o.Unbind, o.IfGeneration, o.Owner = true, s.generation, c.owner
	case clean:
		revision := c.stored[mac].Revision
		o.Disk, o.IfRevision, o.takeOver, o.clean = c.diskOf(mac), &revision, true, true
	default:
		o.BindingSpec = c.planned.stateOf(mac).Named(c.stored[mac].Hostname).BindingSpec
		o.Owner, o.UserData, o.IfGeneration, o.Reimage = c.owner, userData, s.generation, s.kind == again
		o.takeOver = s.adopts
		if c.keepsSeed(mac) {
			o.UserData, o.KeepUserData = "", true
		}
	}
	o.Node = mac
	return o
}

// send sends all orders in as few calls as possible and stops at the first that fails.
// sledd counts again, so that what changed since the plan exceeds no limit of the provider or of the resource.
func (b *bindings) send(ctx context.Context, orders []order, images types.Int64) (answers, diag.Diagnostics) {
	done := answers{map[string]api.Binding{}, map[string]bool{}, map[string]bool{}}
	slices.SortFunc(orders, func(x, y order) int {
		if x.takeOver != y.takeOver {
			return cmp.Compare(text(x.takeOver), text(y.takeOver))
		}
		return strings.Compare(x.Node, y.Node)
	})
	count := len(orders)
	for len(orders) > 0 {
		end := 1
		for end < len(orders) && end < most && orders[end].takeOver == orders[0].takeOver {
			end++
		}
		if diagnostics := b.call(ctx, orders[:end], b.site.Limits(images), done); diagnostics.HasError() {
			if sent := len(done.bound) + len(done.gone); sent > 0 {
				diagnostics.AddError("Only some machines were changed",
					fmt.Sprintf("%d of %d machines are as planned and stay so. Apply again for the others: "+
						"nothing is imaged twice.",
						sent, count))
			}
			return done, diagnostics
		}
		orders = orders[end:]
	}
	return done, nil
}

// text orders false before true.
func text(b bool) string { return strconv.FormatBool(b) }

// call sends one call.
func (b *bindings) call(ctx context.Context, orders []order, limits api.Limits, done answers) diag.Diagnostics {
	items := make([]api.BulkBinding, len(orders))
	for i, o := range orders {
		items[i] = o.BulkBinding
	}
	var options []api.Option
	if orders[0].takeOver {
		options = append(options, api.TakeOver())
	}
	return b.site.CallBulk(ctx, fmt.Sprintf("bind %d machines", len(items)),
		func(ctx context.Context, client *api.Client) error {
			bindings, err := client.Bind(ctx, api.BulkBindings{Items: items, Limits: limits}, options...)
			for _, o := range orders {
				switch {
				case err != nil && api.IsUnreachable(err):
					done.unsure[o.Node] = true
				case err == nil && (o.Unbind || o.clean):
					done.gone[o.Node] = true
				}
			}
			for _, binding := range bindings {
				if !done.gone[binding.MAC] {
					done.bound[binding.MAC] = binding
				}
			}
			return site.NameItems(err, items)
		})
}
