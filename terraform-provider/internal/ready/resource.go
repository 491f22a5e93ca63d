// SPDX-License-Identifier: Apache-2.0

// Package ready is sled_ready: the only resource that waits for machines. It owns nothing, so a failed wait has no
// effect.
package ready

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// defaultTime is how long it waits: a rack that is imaged at the speed of its network, with some that boot slowly.
const defaultTime = 45 * time.Minute

var (
	_ resource.ResourceWithConfigure      = (*readyResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*readyResource)(nil)
	_ resource.ResourceWithValidateConfig = (*readyResource)(nil)
)

type readyResource struct{ site *site.Site }

// NewResource makes the resource sled_ready.
func NewResource() resource.Resource { return &readyResource{} }

func (r *readyResource) Metadata(_ context.Context, request resource.MetadataRequest,
	response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_ready"
}

func (r *readyResource) Configure(_ context.Context, request resource.ConfigureRequest,
	response *resource.ConfigureResponse) {
	r.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (r *readyResource) Schema(ctx context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "Waits until machines have done what their bindings request. It is the only resource " +
			"that waits, and " +
			"it owns nothing: after a timeout, the next apply creates only this resource again, which waits again " +
			"and " +
			"images nothing. The machines change while it waits only if something boots them, such as " +
			"`playbooks/reimage.yml`.",
		Attributes: map[string]schema.Attribute{
			"nodes": schema.MapAttribute{Required: true, ElementType: types.Int64Type,
				Validators: []validator.Map{mapvalidator.KeysAre(nodeName),
					mapvalidator.ValueInt64sAre(int64validator.AtLeast(1))},
				MarkdownDescription: "MAC or name of each machine, and the generation that it is to reach: " +
					"`generation` of its `sled_binding`, or " +
					"`generations` of a `sled_bindings`. A machine whose generation was raised meanwhile is ready " +
					"once it " +
					"has done the newer one. A change waits again; a change of anything else does not."},
			"require": schema.StringAttribute{Optional: true, Computed: true,
				Default: stringdefault.StaticString("all"),
				MarkdownDescription: "How many must be ready: `all`, a number such as `20`, or a percentage such " +
					"as `90%`, rounded up. " +
					"Default: `all`."},
			"fail_fast": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "End as soon as so many machines have failed that the others are not enough. " +
					"`false`: wait until " +
					"no machine is working any more; a failed machine tries again when it is booted. Default: `true`."},
			"timeouts": timeAttribute(ctx),
			"ready": schema.MapAttribute{Computed: true, ElementType: types.Int64Type,
				MarkdownDescription: "Machines that were ready when the wait ended, as in `nodes`, and the " +
					"generation of each."},
			"failed": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Machines that had failed when the wait ended, and why."},
			"pending": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Machines that were still working when the wait ended, and the phase of each."},
		},
	}
}

var nodeName = stringvalidator.RegexMatches(nodePattern, "must be a MAC or the name of a node")

func timeAttribute(ctx context.Context) schema.Attribute {
	const form = ", as a duration such as `30s`, `45m` or `2h30m`. Default: `45m`."
	attribute := timeouts.Attributes(ctx, timeouts.Opts{Create: true, Update: true,
		CreateDescription: "How long to wait when the resource is created" + form,
		UpdateDescription: "How long to wait after a change of `nodes`" + form})
	if nested, ok := attribute.(schema.SingleNestedAttribute); ok {
		nested.MarkdownDescription = "Maximum time to wait."
		return nested
	}
	return attribute
}

func (r *readyResource) ValidateConfig(ctx context.Context, request resource.ValidateConfigRequest,
	response *resource.ValidateConfigResponse) {
	var m model
	response.Diagnostics.Append(request.Config.Get(ctx, &m)...)
	response.Diagnostics.Append(m.validate()...)
}

// ModifyPlan keeps the result of the earlier wait when there is nothing to wait for.
func (r *readyResource) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if request.Plan.Raw.IsNull() || request.State.Raw.IsNull() {
		return
	}
	var state, plan model
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	if response.Diagnostics.HasError() || !plan.Nodes.Equal(state.Nodes) {
		return
	}
	plan.Ready, plan.Failed, plan.Pending = state.Ready, state.Failed, state.Pending
	response.Diagnostics.Append(response.Plan.Set(ctx, plan)...)
}

// Create waits. The result is stored even with an error, so that it can be inspected.
func (r *readyResource) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var m model
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	most, diagnostics := m.Timeouts.Create(ctx, defaultTime)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(r.wait(ctx, &m, most)...)
	response.Diagnostics.Append(response.State.Set(ctx, m)...)
}

// Read changes nothing: later events do not undo a wait that ended.
func (r *readyResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update waits when nodes or generations changed. When that fails the state stays, so the next plan waits again.
func (r *readyResource) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var state, plan model
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	most, diagnostics := plan.Timeouts.Update(ctx, defaultTime)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	if !plan.Nodes.Equal(state.Nodes) {
		response.Diagnostics.Append(r.wait(ctx, &plan, most)...)
	}
	if !response.Diagnostics.HasError() {
		response.Diagnostics.Append(response.State.Set(ctx, plan)...)
	}
}

// Delete drops the state; the wait owns nothing else.
func (r *readyResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// wait waits and fills in the result.
func (r *readyResource) wait(ctx context.Context, m *model, most time.Duration) diag.Diagnostics {
	wanted, diagnostics := m.goal(ctx)
	if diagnostics.HasError() {
		return diagnostics
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	found, err := wait(ctx, r.site.Client(), wanted)
	diagnostics.Append(m.set(ctx, found)...)
	diagnostics.Append(ending{wanted, found, most}.explain(err)...)
	return diagnostics
}
