// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/admitwithin"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

func (b *binding) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var plan model
	response.Diagnostics.Append(layout.Read(ctx, request.Plan.Raw, &plan)...)
	_, data := seed(ctx, request.Config.Raw, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	node, diagnostics := b.declared(ctx, plan.Node.ValueString())
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	options, diagnostics := b.over(ctx, node, &plan)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	stored, diagnostics := b.put(ctx, *node, &plan, data, options...)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(admitwithin.Open(ctx, b.site, map[string]string{node.MAC: node.Name}, plan.AdmitWithin)...)
	r := record{Owner: b.site.Owner}
	r.look(*node, stored, plan.Version())
	plan.settle(*node, stored, first(*node, &plan))
	write(ctx, &plan, &response.State.Raw, &response.Diagnostics)
	response.Diagnostics.Append(b.keep(ctx, &r, response.Private)...)
	response.Diagnostics.Append(response.Identity.SetAttribute(ctx, path.Root("mac"), node.MAC)...)
}

// over are the conditions of a new binding. With create_before_destroy the one that it replaces is still there: then
// the new one takes its place, with the generation that the plan showed.
func (b *binding) over(ctx context.Context, node *api.Node, plan *model) ([]api.Option, diag.Diagnostics) {
	old := node.Binding
	switch {
	case old == nil:
		return []api.Option{api.IfAbsent()}, nil
	case unclaimed(*old):
		return []api.Option{api.IfRevision(old.Revision)}, nil
	case !b.supersedes(*node) || !plan.Drift.IsUnknown():
		return nil, b.taken(*node)
	}
	b.site.Supersede(node.MAC)
	revision, diagnostics := old.Revision, diag.Diagnostics{}
	if b.after(*node, plan) > api.NextGeneration(old.Generation, node.Status.Generation) {
		// the plan counted a wipe between the two
		diagnostics = b.site.Call(ctx, "bind node "+node.Name, func(ctx context.Context, client *api.Client) error {
			raised, err := client.ReimageBinding(ctx, node.MAC, api.IfRevision(revision))
			revision = raised.Revision
			return err //nolint:wrapcheck // Call explains it
		})
	}
	return []api.Option{api.IfRevision(revision), api.Reimage()}, diagnostics
}

// supersedes reports whether a binding of this provider that is in the way is the one that the apply replaces. If it is
// not, the plan knew of none, and the CLI refuses that drift is not known now.
func (b *binding) supersedes(node api.Node) bool {
	return b.site.Applying && node.Binding.Owner == b.site.Owner
}

func (b *binding) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var plan, state model
	response.Diagnostics.Append(layout.Read(ctx, request.Plan.Raw, &plan)...)
	response.Diagnostics.Append(layout.Read(ctx, request.State.Raw, &state)...)
	config, data := seed(ctx, request.Config.Raw, &response.Diagnostics)
	was := b.known(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	before := state.MAC.ValueString()
	response.Diagnostics.Append(b.catchUp(ctx, plan.Node, &state, was)...)
	node, diagnostics := b.declared(ctx, plan.Node.ValueString())
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	if _, moved := b.site.Exchanged(before); moved && node.Binding != nil && was.movedTo(*node) {
		was.look(*node, *node.Binding, state.Version())
	}
	response.Diagnostics.Append(asPlanned(*node, &plan, &state, was)...)
	if response.Diagnostics.HasError() {
		return
	}
	stored, held := *cmp.Or(node.Binding, &api.Binding{}), was.outlook(&plan)
	if u := (change{plan: &plan, state: &state, stored: was}); u.sends() {
		var diagnostics diag.Diagnostics
		options := was.options(&plan, b.site.Owner)
		if u.keepsSeed() || data == "" && plan.UserDataSHA256.ValueString() != "" { // as imported
			data, options = "", append(options, api.KeepUserData())
		}
		stored, diagnostics = b.put(ctx, *node, &plan, data, options...)
		response.Diagnostics.Append(diagnostics...)
		if response.Diagnostics.HasError() {
			return
		}
		was.look(*node, stored, plan.Version())
		was.Owner = b.site.Owner
	}
	if !plan.AdmitWithin.Equal(state.AdmitWithin) || was.Generation != state.Generation.ValueInt64() {
		machine := map[string]string{node.MAC: node.Name}
		response.Diagnostics.Append(admitwithin.Open(ctx, b.site, machine, plan.AdmitWithin)...)
	}
	was.Imported, was.Kept = false, was.Kept.Unnamed(&config.Shared, config.Hostname)
	stored.Generation = was.Generation
	plan.settle(*node, stored, held)
	write(ctx, &plan, &response.State.Raw, &response.Diagnostics)
	response.Diagnostics.Append(b.keep(ctx, was, response.Private)...)
	response.Diagnostics.Append(response.Identity.SetAttribute(ctx, path.Root("mac"), node.MAC)...)
}

// options are the conditions of an update: only over what was seen when the plan was made.
func (r *record) options(plan *model, owner string) []api.Option {
	if r.Absent {
		return []api.Option{api.IfAbsent()}
	}
	options := []api.Option{api.IfRevision(r.Revision)}
	if !plan.Generation.IsUnknown() && plan.Generation.ValueInt64() != r.Generation {
		options = append(options, api.Reimage()) // also when the desired state is stored already
	}
	if r.Desired.Owner != owner && r.ours(owner) {
		options = append(options, api.TakeOver())
	}
	return options
}

// asPlanned checks that the node and its disk are those that the plan showed.
func asPlanned(node api.Node, plan, state *model, was *record) diag.Diagnostics {
	var diagnostics diag.Diagnostics
	if node.MAC != state.MAC.ValueString() {
		diagnostics.AddError(fmt.Sprintf("Node %s is not the machine that is bound", plan.Node.ValueString()),
			fmt.Sprintf("It has MAC %s, the binding is for %s. Nothing was written. Plan again: the plan will "+
				"replace the binding.", node.MAC, state.MAC.ValueString()))
	}
	if !plan.ownDisk() && node.Disk != was.Disk && !plan.Generation.Equal(state.Generation) {
		diagnostics.AddError(fmt.Sprintf("Changed since the plan was made: the disk of node %s", node.Name),
			fmt.Sprintf("The plan showed disk %s; the node's disk is %s now. Nothing was written. Plan again.",
				was.Disk, node.Disk))
	}
	return diagnostics
}

// put stores the planned desired state, on condition that it gets the planned generation.
func (b *binding) put(ctx context.Context, node api.Node, plan *model, userData string,
	options ...api.Option) (api.Binding, diag.Diagnostics) {
	spec := plan.State().BindingSpec
	spec.Node, spec.Owner, spec.UserData = node.MAC, b.site.Owner, userData
	if !plan.Generation.IsUnknown() {
		options = append(options, api.IfGeneration(plan.Generation.ValueInt64()))
	}
	var stored api.Binding
	diagnostics := b.site.Call(ctx, "bind node "+node.Name, func(ctx context.Context, client *api.Client) (err error) {
		stored, err = client.PutBinding(ctx, spec, options...)
		if api.IsUnreachable(err) && b.arrived(ctx, client, node, plan, &stored) {
			err = nil
		}
		return err //nolint:wrapcheck // Call explains it
	})
	return stored, diagnostics
}

// declared is look for a node that must exist.
func (b *binding) declared(ctx context.Context, reference string) (*api.Node, diag.Diagnostics) {
	node, diagnostics := b.look(ctx, reference)
	if node == nil && !diagnostics.HasError() {
		diagnostics.AddAttributeError(path.Root("node"), fmt.Sprintf("Node %q does not exist", reference),
			"Declare it first, with sled_node, and take node from that resource, so that Terraform creates it first.")
	}
	return node, diagnostics
}

// unclaimed reports whether a binding has no owner and only wipes: what on_destroy = wipe and playbooks/wipe.yml leave.
// Anybody may replace it.
func unclaimed(b api.Binding) bool { return b.Owner == "" && desired.Of(b).WipeOnly() }

// replaces reports whether the binding of a node is this configuration's own, which the plan removes first.
func (b *binding) replaces(node api.Node) bool {
	return node.Binding.Owner == b.site.Owner && b.site.Held(node.MAC) != nil
}

// taken refuses to bind a node that is bound.
func (b *binding) taken(node api.Node) diag.Diagnostics {
	owner := "nobody"
	if node.Binding.Owner != "" {
		owner = node.Binding.Owner
	}
	detail := fmt.Sprintf("It is %s, at generation %d, and belongs to %s; this provider declares as %s. Nothing "+
		"was changed.\n\n"+
		"To manage it here, import it: terraform import ADDRESS %s",
		desired.Of(*node.Binding).Goal(), node.Binding.Generation, owner, b.site.Owner, node.MAC)
	if owner == b.site.Owner {
		detail += "\n\nIf another configuration or workspace has it, leave it there: one machine belongs in one state, and " +
			"each needs a separate owner in the provider block. If only the address of the resource changed, write a " +
			"moved block. If the resource is tainted, untaint it: reimage_trigger images a node again. If it is " +
			"replaced with create_before_destroy, set applying = " +
			"terraform.applying in the provider block before the plan. After an apply that ended here: terraform state rm " +
			"ADDRESS, then import it."
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("node"),
		fmt.Sprintf("Node %s is already bound", node.Name), detail)}
}
