// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"context"
	"fmt"
	"strings"

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
	ofTheNode  = "of the node" // which the same apply declares or changes
)

// ModifyPlan computes the next generation, as a known number wherever possible, and warns of each wipe.
func (b *binding) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if b.site == nil {
		return
	}
	if request.Plan.Raw.IsNull() {
		b.planDestroy(ctx, request, response)
		return
	}
	var plan, config model
	response.Diagnostics.Append(layout.Read(ctx, request.Plan.Raw, &plan)...)
	response.Diagnostics.Append(layout.Read(ctx, request.Config.Raw, &config)...)
	sum, diagnostics := desired.SumOf(config.UserData, b.site.Key)
	plan.UserDataSHA256 = sum
	plan.plain(&config)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	if request.State.Raw.IsNull() {
		response.Diagnostics.Append(b.planCreate(ctx, &plan, true)...)
	} else {
		b.planUpdate(ctx, &plan, &config, request, response)
	}
	write(ctx, &plan, &response.Plan.Raw, &response.Diagnostics)
}

func (b *binding) planUpdate(ctx context.Context, plan, config *model, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	var state model
	response.Diagnostics.Append(layout.Read(ctx, request.State.Raw, &state)...)
	stored := b.known(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(b.catchUp(ctx, plan.Node, &state, stored)...)
	if response.Identity != nil {
		response.Diagnostics.Append(response.Identity.SetAttribute(ctx, path.Root("mac"), state.MAC)...)
	}
	response.Diagnostics.Append(b.site.Know(state.MAC.ValueString(), stored.Name)...)
	b.site.Hold(state.MAC.ValueString(), site.Held{Wipes: state.OnDestroy.ValueString() == "wipe",
		Undeclared: undeclared(stored.Kept.Unnamed(&config.Shared, config.Hostname))})
	if b.site.Released(state.MAC.ValueString()) {
		response.Diagnostics.Append(supersededError(stored.Name))
		return
	}
	another, diagnostics := b.keepNode(ctx, plan, &state, stored)
	response.Diagnostics.Append(diagnostics...)
	if another {
		response.RequiresReplace.Append(path.Root("node"))
		response.Diagnostics.Append(b.warnDestroy(&state, stored)...)
		if plan.Node.IsUnknown() {
			response.Diagnostics.Append(b.site.Plan(site.Reimage{Node: "the node that follows " + stored.Name,
				Disk: cmp.Or(text(plan.Disk), ofTheNode), Image: text(plan.Image), Unknown: true})...)
		}
		response.Diagnostics.Append(b.planCreate(ctx, plan, false)...) // once the CLI replaces, it drops the warnings
		return
	}
	response.Diagnostics.Append(stored.hold(plan, config, &state)...)
	if node, planned := b.site.PlannedNode(stored.Name); planned && node.Known && node.Disk != stored.Disk {
		stored.Disk = node.Disk // by the same apply
		response.Diagnostics.Append(b.keep(ctx, stored, response.Private)...)
	}
	digests, diagnostics := b.site.Digests(ctx, stored.Desired, plan.Image.ValueString(), state.Image.ValueString())
	response.Diagnostics.Append(diagnostics...)
	stored.Desired.Digest = digests[stored.Desired.Image]
	u := change{plan: plan, state: &state, stored: stored, owner: b.site.Owner, digests: digests,
		memory: b.inMemory(ctx, plan, stored)}
	again, diagnostics := u.work()
	response.Diagnostics.Append(diagnostics...)
	response.Diagnostics.Append(b.plan(len(again) > 0 && b.leaves(ctx, state.MAC.ValueString(), plan), plan, again...)...)
	if node := (api.NodeSpec{MAC: state.MAC.ValueString(), Name: stored.Name}); u.sends() {
		response.Diagnostics.Append(stored.lost(config)...)
		response.Diagnostics.Append(b.check(ctx, node, plan)...)
		if stored.Gone {
			_, diagnostics = b.site.Declared(ctx, node.MAC)
			response.Diagnostics.Append(diagnostics...)
		}
	}
}

// check has sledd check what an apply would bind, as far as it is known.
func (b *binding) check(ctx context.Context, node api.NodeSpec, plan *model) diag.Diagnostics {
	if !plan.known() || !plan.MethodKnown() {
		return nil
	}
	spec := plan.State().BindingSpec
	spec.Node, spec.Owner = node.MAC, b.site.Owner
	return b.site.CheckBinding(ctx, "bind node "+node.Name, spec)
}

// plan records machines that are imaged, unless the image leaves the disks as they are.
func (b *binding) plan(leaves bool, plan *model, all ...site.Reimage) diag.Diagnostics {
	if !leaves {
		return b.site.Plan(all...)
	}
	plan.DiskSelected = types.StringValue(noneSelected)
	if !plan.Generation.IsUnknown() {
		plan.Wipes = types.StringNull()
	}
	return nil
}

// inMemory reports whether the planned image runs from memory. The image that is bound is not read for that.
func (b *binding) inMemory(ctx context.Context, plan *model, stored *record) bool {
	if name := plan.Image.ValueString(); name != stored.Desired.Image {
		return b.site.InMemory(ctx, name)
	}
	return stored.Memory
}

// leaves reports whether the image runs from memory, so that the disks of the node stay as they are.
func (b *binding) leaves(ctx context.Context, mac string, plan *model) bool {
	if !plan.known() || !plan.MethodKnown() {
		return false
	}
	spec := plan.State().BindingSpec
	spec.Node, spec.Owner = mac, b.site.Owner
	return b.site.Leaves(ctx, []api.BulkBinding{{BindingSpec: spec}})[mac]
}

// keepNode keeps the spelling in the state for the same machine, so that a MAC may become a name. It reports whether
// it is another machine. A name that sledd does not know must be one that the same apply sets. An apply plans again
// and must get the same result, so only the names in the record count as another spelling.
func (b *binding) keepNode(ctx context.Context, plan, state *model, stored *record) (another bool,
	diagnostics diag.Diagnostics) {
	reference := plan.Node.ValueString()
	mac := parsed(reference)
	switch {
	case plan.Node.IsUnknown():
		return true, nil
	case plan.Node.Equal(state.Node):
		return false, nil
	case mac == state.MAC.ValueString() && parsed(state.Node.ValueString()) != "" &&
		parsed(state.Node.ValueString()) != mac: // it got another MAC
		return false, nil
	case mac == state.MAC.ValueString(), reference == stored.Name:
		plan.Node = state.Node
		return false, nil
	case mac != "":
		return true, nil
	}
	node, diagnostics := b.look(ctx, reference)
	if node != nil || diagnostics.HasError() {
		return node != nil && node.MAC != state.MAC.ValueString(), diagnostics
	}
	planned, diagnostics := b.site.Declared(ctx, reference)
	return planned.MAC != "" && planned.MAC != state.MAC.ValueString(), diagnostics
}

// imaging is what a binding that is new does to a node; To is left to the caller.
func imaging(node api.Node, plan *model) site.Reimage {
	disk := api.MeantBy(cmp.Or(text(plan.Disk), node.Disk, ofTheNode), node.KeepDisks, node.Facts.Candidates())
	if plan.Handover.ValueBool() {
		disk = api.AllDisks
	}
	one := site.Reimage{Node: node.Name, MAC: node.MAC, Disk: disk, Partition: text(plan.Partition),
		Image: text(plan.Image), From: node.Status.Generation}
	if node.Binding != nil {
		one.From = max(one.From, node.Binding.Generation)
	}
	return one
}

// planCreate reads the node if it exists. A node that this configuration has bound is free only where its own resource
// may be replaced: a resource that moves on from another node, as when a list shifts, must not wipe it.
func (b *binding) planCreate(ctx context.Context, plan *model, replaced bool) diag.Diagnostics {
	plan.fresh()
	if plan.Node.IsUnknown() {
		return nil
	}
	if mac := parsed(plan.Node.ValueString()); mac != "" {
		plan.MAC = types.StringValue(mac)
	}
	node, diagnostics := b.look(ctx, plan.Node.ValueString())
	switch {
	case diagnostics.HasError():
		return diagnostics
	case node == nil:
		return b.planDeclared(ctx, plan, replaced)
	case !node.Declared:
		var planned site.PlannedNode
		if planned, diagnostics = b.site.Declared(ctx, node.MAC); planned.Known {
			node.NodeSpec = planned.NodeSpec
		}
	}
	plan.MAC = types.StringValue(node.MAC)
	if replaced { // else the CLI plans it again
		diagnostics.Append(b.forgets(*node)...)
		diagnostics.Append(b.site.PlanBinding(node.MAC, "sled_binding with node "+node.Name)...)
	}
	diagnostics.Append(b.check(ctx, node.NodeSpec, plan)...)
	if diagnostics.HasError() {
		return diagnostics
	}
	leaves := b.leaves(ctx, node.MAC, plan)
	if !leaves && b.nowhere(*node, plan) {
		diagnostics.AddAttributeError(path.Root("disk"), fmt.Sprintf("No disk of node %s is named", node.Name), noDisk)
		return diagnostics
	}
	one, old := imaging(*node, plan), node.Binding
	switch {
	case old == nil, unclaimed(*old) && plan.known():
		one.To = desired.Generation(plan.State(), old, node.Status.Generation, false)
		plan.Generation = types.Int64Value(one.To)
		if old != nil && one.To == old.Generation {
			plan.Wipes = types.StringNull()
			return nil // the same wipe is bound already
		}
	case unclaimed(*old):
	case replaced && (b.replaces(*node) || b.supersedes(*node)):
		one.To = b.after(*node, plan)
		plan.Drift = types.StringUnknown() // which tells Create, and the CLI, that there is a binding to replace
	default:
		return b.taken(*node)
	}
	if one.To > 0 {
		plan.Generation, plan.Wipes = types.Int64Value(one.To), firstWipe(*node, plan, one.To)
	}
	return b.plan(leaves, plan, one)
}

// planDeclared plans a binding of a node that the same apply declares.
func (b *binding) planDeclared(ctx context.Context, plan *model, replaced bool) diag.Diagnostics {
	reference := plan.Node.ValueString()
	node, diagnostics := b.site.Declared(ctx, reference)
	if diagnostics.HasError() {
		return diagnostics
	}
	disk := ""
	if node.Known {
		disk = node.Disk
		diagnostics.Append(b.check(ctx, node.NodeSpec, plan)...)
	}
	if replaced && node.MAC != "" {
		diagnostics.Append(b.site.PlanBinding(node.MAC, "sled_binding with node "+reference)...)
	}
	leaves := node.Known && b.leaves(ctx, node.MAC, plan)
	diagnostics.Append(b.plan(leaves, plan, site.Reimage{Node: reference, MAC: cmp.Or(plan.MAC.ValueString(), node.MAC),
		Disk: cmp.Or(text(plan.Disk), disk, ofTheNode), Partition: text(plan.Partition),
		Image: text(plan.Image)})...)
	return diagnostics
}

const noDisk = "Neither the binding nor the node has a selector. Set disk in either: an image is never written to a " +
	"disk that nobody named."

// nowhere reports whether an image has no disk to go to, and the same apply names none.
func (b *binding) nowhere(node api.Node, plan *model) bool {
	_, changed := b.site.PlannedNode(node.MAC)
	return node.Declared && !plan.ownDisk() && node.Disk == "" && !plan.Image.IsNull() && !changed
}

// after is the generation of a binding that replaces this configuration's own; 0: it depends on what the node fetches
// until then, or on the order of creation and removal.
func (b *binding) after(node api.Node, plan *model) int64 {
	if node.Binding.Generation > node.Status.Generation {
		return 0
	}
	to := api.NextGeneration(0, node.Status.Generation)
	wipes := plan.OnDestroy.ValueString() == "wipe"
	if held := b.site.Held(node.MAC); held != nil && held.Wipes != wipes {
		return 0 // an apply that creates first does not know what the state had
	}
	if wipes && !desired.Of(*node.Binding).WipeOnly() {
		to++ // the wipe comes first
	}
	return to
}

// first is what a node holds before its binding is created, as observed: a binding that the same apply removes or
// leaves does not count, so that the apply finds what the plan showed.
func first(node api.Node, plan *model) api.Outlook {
	o := api.Outlook{Node: node.Name, Before: node.Status.Generation, Had: node.Status.Image,
		Disk: cmp.Or(plan.Disk.ValueString(), node.Disk), Partition: plan.Partition.ValueString()}
	if plan.Image.IsNull() || plan.Handover.ValueBool() {
		o.Disk = api.AllDisks
	}
	if node.Status.Generation > 0 {
		o.Match(node.KeepDisks, node.Facts.Candidates())
	}
	return o
}

// firstWipe is the line of a plan that binds a node. It must be the same when the plan is applied, and a machine that
// had no plan yet may boot until then and report its disks: so only a selector that names one disk stands there.
func firstWipe(node api.Node, plan *model, to int64) types.String {
	o := first(node, plan)
	identified := strings.Contains(o.Disk, "serial:") || strings.Contains(o.Disk, "wwn:") ||
		strings.Contains(o.Disk, "path:")
	if plan.Image.IsUnknown() || plan.Partition.IsUnknown() || !identified && o.Disk != api.AllDisks && len(o.Disks) == 0 {
		return types.StringUnknown()
	}
	o.Generation, o.Image = to, plan.Image.ValueString()
	return types.StringValue(o.WipeText())
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
