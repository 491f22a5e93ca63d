// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// ModifyPlan plans what another MAC means. With the same name it is the same machine with a new network card or
// mainboard, which sledd exchanges; with another name it is another machine.
func (n *node) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if n.site == nil {
		return
	}
	state, diagnostics := n.held(ctx, request)
	response.Diagnostics.Append(diagnostics...)
	if request.Plan.Raw.IsNull() {
		return
	}
	if !request.Plan.Raw.Equal(request.State.Raw) {
		response.Diagnostics.Append(n.check(ctx, request)...)
	}
	if request.State.Raw.IsNull() || response.Diagnostics.HasError() {
		return
	}
	plan, diagnostics := named(ctx, request.Plan)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() || !plan.MAC.IsUnknown() && plan.MAC.Address() == state.MAC.Address() {
		return
	}
	if plan.MAC.IsUnknown() || !plan.Name.Equal(state.Name) {
		response.RequiresReplace.Append(path.Root("mac"))
		return
	}
	revision := n.revisionOf(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	if revision == 0 { // it was only discovered
		response.RequiresReplace.Append(path.Root("mac"))
		return
	}
	if declaredMAC(ctx, request.Private, &response.Diagnostics) == plan.MAC.Address() {
		response.Diagnostics.AddAttributeError(path.Root("mac"), fmt.Sprintf("Node %s was exchanged outside: %s -> %s",
			plan.Name.ValueString(), plan.MAC.Address(), state.MAC.Address()), "Somebody gave it another MAC, as after a new "+
			"network card, and the configuration has the one of before. Nothing is moved back. Write the new MAC into the "+
			"configuration; sledctl node replace moves it back.")
		return
	}
	if response.Identity != nil {
		response.Diagnostics.Append(identify(ctx, response.Identity, plan.MAC.Address())...)
	}
	_, diagnostics = n.exchange(ctx, state.MAC.Address(), &plan, revision, api.DryRun())
	response.Diagnostics.Append(diagnostics...)
	if !diagnostics.HasError() {
		response.Diagnostics.AddAttributeWarning(path.Root("mac"), fmt.Sprintf("Node %s gets MAC %s instead of %s",
			plan.Name.ValueString(), plan.MAC.Address(), state.MAC.Address()), "It is taken for the same machine with a new "+
			"network card or mainboard: name, binding and generation stay, and nothing is imaged. For another machine, "+
			"replace the resource (-replace).")
	}
}

// held reads the state, and tells the other nodes of the run what it has and what may become free.
func (n *node) held(ctx context.Context, request resource.ModifyPlanRequest) (state model,
	diagnostics diag.Diagnostics) {
	if request.State.Raw.IsNull() {
		return state, nil
	}
	diagnostics = request.State.Get(ctx, &state)
	n.site.HoldNode(state.MAC.Address())
	if !request.Plan.Raw.Equal(request.State.Raw) {
		n.site.FreeNode(state.MAC.Address())
	}
	return state, diagnostics
}

// named is MAC and name of a plan of which the rest may be unknown.
func named(ctx context.Context, plan tfsdk.Plan) (m model, diagnostics diag.Diagnostics) {
	diagnostics = plan.GetAttribute(ctx, path.Root("mac"), &m.MAC)
	diagnostics.Append(plan.GetAttribute(ctx, path.Root("name"), &m.Name)...)
	return m, diagnostics
}

// check has sledd check the declaration, and compares it with those of the other nodes of the run.
func (n *node) check(ctx context.Context, request resource.ModifyPlanRequest) diag.Diagnostics {
	plan, diagnostics := named(ctx, request.Plan)
	planned := site.PlannedNode{NodeSpec: plan.spec(), Created: request.State.Raw.IsNull(),
		Known: request.Plan.Raw.IsFullyKnown()}
	if planned.Known {
		diagnostics.Append(request.Plan.Get(ctx, &plan)...)
		planned.NodeSpec = plan.spec()
	}
	diagnostics.Append(n.site.PlanNode(planned)...)
	if !planned.Known || diagnostics.HasError() {
		return diagnostics
	}
	var found func() diag.Diagnostics
	if planned.Created && !n.site.HeldNode(planned.MAC) {
		found = func() diag.Diagnostics { return exists(&plan) }
	}
	return n.site.CheckNode(ctx, "declare "+plan.String(), planned.NodeSpec, found)
}

// exchange moves the node to its new MAC, in one transaction of sledd, and records that for the bindings of this run.
func (n *node) exchange(ctx context.Context, from string, m *model, revision int64, options ...api.Option) (api.Node,
	diag.Diagnostics) {
	var moved api.Node
	diagnostics := n.site.Call(ctx, fmt.Sprintf("give node %s the MAC %s", m.Name.ValueString(), m.MAC.Address()),
		func(ctx context.Context, client *api.Client) (err error) {
			moved, err = client.ReplaceNode(ctx, from, m.MAC.Address(), append(options, api.IfRevision(revision))...)
			return about(moved, m.MAC.Address(), err)
		})
	if !diagnostics.HasError() {
		one := site.Exchange{From: from, To: moved.MAC}
		if moved.Binding != nil {
			one.Generation = moved.Binding.Generation
		}
		n.site.Exchange(one)
	}
	return moved, diagnostics
}

// renamed finds a node that somebody gave another MAC: it still has its name.
func (n *node) renamed(ctx context.Context, m *model) (stored api.Node, found bool, diagnostics diag.Diagnostics) {
	if m.Name.ValueString() == "" { // only discovered, or imported
		return stored, false, nil
	}
	return read(ctx, n.site, m.Name.ValueString(), m.String())
}
