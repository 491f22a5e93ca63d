// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

func (b *binding) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	var state model
	response.Diagnostics.Append(layout.Read(ctx, request.State.Raw, &state)...)
	if !state.MAC.IsNull() { // the framework wants it whatever comes
		response.Diagnostics.Append(response.Identity.SetAttribute(ctx, path.Root("mac"), state.MAC)...)
	}
	if b.site == nil { // the provider is not configured yet
		return
	}
	response.Diagnostics.Append(b.site.SameFleet(ctx, request.Private)...)
	was := b.load(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	if was != nil {
		response.Diagnostics.Append(b.site.Know(state.MAC.ValueString(), was.Name)...)
		b.site.Refreshing(state.MAC.ValueString(), state.Generation.ValueInt64())
	}
	node, diagnostics := b.look(ctx, cmp.Or(state.MAC.ValueString(), state.Node.ValueString()))
	if (node == nil || node.Binding == nil) && was != nil && !diagnostics.HasError() {
		node, diagnostics = b.follow(ctx, state.Node.ValueString(), was, node)
	}
	response.Diagnostics.Append(diagnostics...)
	if diagnostics.HasError() {
		return
	}
	if (node == nil || node.Binding == nil) && was != nil { // absence is drift too: on_drift decides
		response.Diagnostics.Append(b.miss(ctx, was, node)...)
		state.Drift, state.Wipes = types.StringValue(was.absence()), types.StringNull()
		write(ctx, &state, &response.State.Raw, &response.Diagnostics)
		response.Diagnostics.Append(b.keep(ctx, was, response.Private)...)
		return
	}
	if node == nil || node.Binding == nil {
		response.State.RemoveResource(ctx)
		return
	}
	response.Diagnostics.Append(b.leftOver(ctx, &state, was, *node)...)
	if was == nil { // an import
		was = &record{Owner: node.Binding.Owner, Imported: true, Kept: desired.Found(desired.Of(*node.Binding))}
		state.OnDrift, state.OnDestroy = types.StringValue(string(desired.Warn)), types.StringValue("keep")
		state.Take(desired.Of(*node.Binding))
	}
	digests, diagnostics := b.site.Digests(ctx, desired.Of(*node.Binding), state.Image.ValueString())
	response.Diagnostics.Append(diagnostics...)
	if diagnostics.HasError() {
		return
	}
	was.follow(&state, desired.Of(*node.Binding))
	state.refresh(*node, digests)
	was.look(*node, *node.Binding, state.Version())
	write(ctx, &state, &response.State.Raw, &response.Diagnostics)
	response.Diagnostics.Append(b.keep(ctx, was, response.Private)...)
	response.Diagnostics.Append(response.Identity.SetAttribute(ctx, path.Root("mac"), node.MAC)...)
}

// leftOver marks an object whose binding a newer one has. It removes nothing, and a plan shows that.
func (b *binding) leftOver(ctx context.Context, state *model, was *record, node api.Node) (found diag.Diagnostics) {
	if was != nil && !was.Replaced && node.Binding.Generation > was.Generation {
		was.Replaced, found = b.replacedBy(ctx, state, node)
	}
	if was != nil && was.Replaced {
		state.OnDestroy = types.StringValue("keep")
	}
	return found
}

// replacedBy reports whether this object is left over from a replacement that created first and ended before the
// removal: Terraform raised the generation last, and the state has an object with it.
func (b *binding) replacedBy(ctx context.Context, state *model, node api.Node) (bool, diag.Diagnostics) {
	var last api.Event
	diagnostics := b.site.Call(ctx, "read the history of node "+node.Name,
		func(ctx context.Context, client *api.Client) error {
			events, err := client.Events(ctx, node.MAC, 0)
			for _, one := range events {
				if one.Kind == "bind" && one.Generation == node.Binding.Generation {
					last = one
				}
			}
			return err //nolint:wrapcheck // Call explains it
		})
	if last.Via != "terraform" || diagnostics.HasError() {
		return false, diagnostics
	}
	return b.site.HasNewer(ctx, node.MAC, state.Generation.ValueInt64()), diagnostics
}

// refresh reads what is stored. The same desired state with another generation is no drift. Another desired state
// leaves the declared attributes as they are and fills drift.
func (m *model) refresh(node api.Node, digests map[string]string) {
	stored, declared := desired.Of(*node.Binding).As(m.Version()), m.State()
	stored.On, declared.Digest = &node.NodeSpec, digests[declared.Image]
	drift := desired.Drift(declared, stored, node.Binding.Generation)
	if drift == "" {
		m.Take(stored)
		m.Generation = types.Int64Value(node.Binding.Generation)
	}
	m.Drift, m.Wipes = types.StringValue(drift), types.StringNull() // a wipe is of a plan
	m.observe(node)
	if _, err := api.ParseMAC(m.Node.ValueString()); err != nil {
		m.Node = types.StringValue(node.Name) // the machine was given another name
	}
}

func (b *binding) ImportState(ctx context.Context, request resource.ImportStateRequest,
	response *resource.ImportStateResponse) {
	reference := request.ID
	if reference == "" {
		response.Diagnostics.Append(request.Identity.GetAttribute(ctx, path.Root("mac"), &reference)...)
	}
	node, diagnostics := b.look(ctx, reference)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	switch {
	case node == nil:
		response.Diagnostics.AddError(fmt.Sprintf("Node %q does not exist", reference),
			"Import by the MAC or the name of a bound node.")
	case node.Binding == nil:
		response.Diagnostics.AddError(fmt.Sprintf("Node %s is not bound", node.Name),
			"There is nothing to import: declare the binding and apply.")
	case node.Binding.Capture != "":
		response.Diagnostics.AddError(fmt.Sprintf("Node %s is %s", node.Name, desired.Of(*node.Binding).Goal()),
			"sled_binding does not declare captures. Remove that binding when it is done, then import or "+
				"declare what comes next.")
	}
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("node"), reference)...)
	if response.Identity != nil && node != nil {
		response.Diagnostics.Append(response.Identity.SetAttribute(ctx, path.Root("mac"), node.MAC)...)
	}
}
