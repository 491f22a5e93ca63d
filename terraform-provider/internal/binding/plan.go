// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

const (
	laterKnown = "(known after apply)"
	unnamed    = "(none declared)" // sledd will refuse that
)

// ModifyPlan computes the next generation, as a known number wherever possible, and warns of each wipe.
func (b *binding) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	if b.site == nil {
		return
	}
	if request.Plan.Raw.IsNull() {
		b.planDestroy(ctx, request, response)
		return
	}
	var plan model
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	plan.UserDataSHA256 = desired.SumOf(userData(ctx, request.Config, &response.Diagnostics))
	if response.Diagnostics.HasError() {
		return
	}
	if request.State.Raw.IsNull() {
		response.Diagnostics.Append(b.planCreate(ctx, &plan, true)...)
	} else {
		b.planUpdate(ctx, &plan, request, response)
	}
	response.Diagnostics.Append(response.Plan.Set(ctx, &plan)...)
}

func (b *binding) planUpdate(ctx context.Context, plan *model, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	var state model
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	stored := known(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	b.site.Hold(state.MAC.ValueString())
	another, diagnostics := b.keepNode(ctx, plan, &state, stored)
	response.Diagnostics.Append(diagnostics...)
	if another {
		response.RequiresReplace.Append(path.Root("node"))
		response.Diagnostics.Append(b.planCreate(ctx, plan, false)...) // once the CLI replaces, it drops the warnings
		return
	}
	digests, diagnostics := b.site.Digests(ctx, stored.Desired, plan.Image.ValueString(), state.Image.ValueString())
	response.Diagnostics.Append(diagnostics...)
	u := change{plan: plan, state: &state, stored: stored, owner: b.site.Owner, digests: digests}
	again, diagnostics := u.work()
	response.Diagnostics.Append(diagnostics...)
	response.Diagnostics.Append(b.site.Plan(again...)...)
}

// keepNode keeps the spelling in the state for the same machine, so that a MAC may become a name. It reports whether
// it is another machine. A name that sledd does not know may be one that the same apply sets; Update
// checks that. An apply plans again and must get the same result, so only the names in the record count as another
// spelling.
func (b *binding) keepNode(ctx context.Context, plan, state *model, stored *record) (another bool,
	diagnostics diag.Diagnostics) {
	reference := plan.Node.ValueString()
	mac := parsed(reference)
	switch {
	case plan.Node.IsUnknown() || plan.Node.Equal(state.Node):
		return false, nil
	case mac == state.MAC.ValueString(), reference == stored.Name:
		plan.Node = state.Node
		return false, nil
	case mac != "":
		return true, nil
	}
	node, diagnostics := b.look(ctx, reference)
	return node != nil && node.MAC != state.MAC.ValueString(), diagnostics
}

// planCreate reads the node if it exists. A node that this configuration has bound is free only where its own resource
// may be replaced: a resource that moves on from another node, as when a list shifts, must not wipe it.
func (b *binding) planCreate(ctx context.Context, plan *model, replaced bool) diag.Diagnostics {
	plan.unobserved()
	plan.Drift, plan.Generation = types.StringValue(""), types.Int64Unknown()
	plan.MAC, plan.DiskSelected = types.StringUnknown(), plan.Disk
	if plan.Disk.IsNull() {
		plan.DiskSelected = types.StringUnknown() // the node may get another one by the same apply
	}
	if plan.Node.IsUnknown() {
		return nil
	}
	if mac := parsed(plan.Node.ValueString()); mac != "" {
		plan.MAC = types.StringValue(mac)
	}
	node, diagnostics := b.look(ctx, plan.Node.ValueString())
	if node == nil {
		if !diagnostics.HasError() { // the same apply declares it
			diagnostics.Append(b.site.Plan(site.Reimage{Node: plan.Node.ValueString(),
				Disk: cmp.Or(text(plan.Disk), "of the node"), Image: text(plan.Image)})...)
		}
		return diagnostics
	}
	plan.MAC = types.StringValue(node.MAC)
	one := site.Reimage{Node: node.Name, Disk: cmp.Or(text(plan.Disk), node.Disk, unnamed), Image: text(plan.Image),
		From: node.Status.Generation}
	old := node.Binding
	if old != nil {
		one.From = max(one.From, old.Generation)
	}
	switch {
	case old == nil, unclaimed(*old) && plan.known():
		one.To = desired.Generation(plan.State(), old, node.Status.Generation, false)
		plan.Generation = types.Int64Value(one.To)
		if old != nil && one.To == old.Generation {
			return nil // the same wipe is bound already
		}
	case unclaimed(*old), replaced && b.replaces(*node): // a later generation
	default:
		return b.taken(*node)
	}
	return b.site.Plan(one)
}

// parsed is a MAC in its usual spelling; empty for a name.
func parsed(reference string) string {
	mac, err := api.ParseMAC(reference)
	if err != nil {
		return ""
	}
	return mac
}

// text is a value for messages.
func text(value types.String) string {
	if value.IsUnknown() {
		return laterKnown
	}
	return value.ValueString()
}
