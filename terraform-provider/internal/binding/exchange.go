// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// catchUp brings state and record up to date with a node that got another MAC: by a sled_node of the same run, or by
// somebody else before, such as an apply that ended too early. The binding moved with it. In a plan sledd still has the
// old MAC.
func (b *binding) catchUp(ctx context.Context, reference types.String, state *model, was *record) diag.Diagnostics {
	exchange, found := b.site.Exchanged(state.MAC.ValueString())
	if found {
		state.MAC = types.StringValue(exchange.To)
		if exchange.Generation > 0 && !was.Absent {
			was.Status += exchange.Generation - was.Generation
			was.Generation = exchange.Generation
			state.Generation = types.Int64Value(exchange.Generation)
		}
		return nil
	}
	if !was.Absent || reference.IsUnknown() {
		return nil
	}
	node, diagnostics := b.look(ctx, reference.ValueString())
	if node != nil && was.movedTo(*node) && node.MAC != state.MAC.ValueString() {
		was.look(*node, *node.Binding, state.Version())
		state.MAC, state.Drift = types.StringValue(node.MAC), types.StringValue("")
		state.Generation = types.Int64Value(node.Binding.Generation)
	}
	return diagnostics
}

// follow returns the node of this name if the binding moved to it, else what was found under the recorded MAC. A MAC in
// the configuration is not followed: it names what is declared.
func (b *binding) follow(ctx context.Context, reference string, was *record, found *api.Node) (*api.Node,
	diag.Diagnostics) {
	if parsed(reference) != "" {
		return found, nil
	}
	other, diagnostics := b.look(ctx, reference)
	if other != nil && was.movedTo(*other) {
		return other, diagnostics
	}
	return found, diagnostics
}

// miss records that a binding is gone, and the MAC under which its node is now, if that was exchanged.
func (b *binding) miss(ctx context.Context, was *record, node *api.Node) diag.Diagnostics {
	if was.miss(node); !was.Gone {
		return nil
	}
	other, diagnostics := b.look(ctx, was.Name)
	if other != nil && was.movedTo(*other) {
		was.Moved = other.MAC
	}
	return diagnostics
}

// movedTo reports whether a node has the name and the binding of the record, so that it is the same under another MAC.
func (r *record) movedTo(node api.Node) bool {
	if node.Binding == nil {
		return false
	}
	there := desired.Of(*node.Binding).As(r.Desired.Version())
	return node.Name == r.Name && node.Binding.Owner == r.Desired.Owner && node.Binding.Generation >= r.Generation &&
		r.on(there).Same(r.on(r.Desired))
}
