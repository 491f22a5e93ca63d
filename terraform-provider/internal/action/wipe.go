// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ action.ActionWithConfigure        = (*wipe)(nil)
	_ action.ActionWithModifyPlan       = (*wipe)(nil)
	_ action.ActionWithConfigValidators = (*wipe)(nil)
)

type wipe struct{ machines }

// NewWipe makes the action sled_wipe.
func NewWipe() action.Action { return &wipe{} }

func (w *wipe) Metadata(_ context.Context, request action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_wipe"
}

func (w *wipe) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	all := attributes()
	all["level"] = schema.StringAttribute{Optional: true,
		Validators: []validator.String{stringvalidator.OneOf("signatures", "empty", "clear", "purge")},
		MarkdownDescription: "How: only signatures, every block empty, every block overwritten, or by the drive itself. " +
			"One of `signatures`, `empty`, `clear`, `purge`. Default: `empty`."}
	response.Schema = schema.Schema{Attributes: all,
		MarkdownDescription: "Wipes machines, as `playbooks/wipe.yml` does: replaces their bindings, regardless of their " +
			"owner, with one that has no image and no owner. **All their disks are wiped at the next boot**, but for " +
			"`keep_disks`. A `sled_binding` of such a machine sees that as drift. It does not wait; the data source " +
			"`sled_erasures` has the records of what was done. Needs Terraform 1.14."}
}

func (w *wipe) ModifyPlan(ctx context.Context, request action.ModifyPlanRequest, response *action.ModifyPlanResponse) {
	response.Diagnostics.Append(w.plan(ctx, request.Config, func(node api.Node) []site.Reimage {
		return []site.Reimage{wiped(node)}
	})...)
}

func (w *wipe) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	var level types.String
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("level"), &level)...)
	w.each(ctx, request.Config, response, func(name string, node api.Node) (string, diag.Diagnostics) {
		return w.bind(ctx, name, level.ValueString(), node)
	})
}

// bind replaces the binding that was read, and returns what was done.
func (w *wipe) bind(ctx context.Context, name, level string, node api.Node) (string, diag.Diagnostics) {
	if !node.Declared {
		return "", unable(name, "wiped", "It is not declared. Declare it with sled_node, with the disks to keep.")
	}
	options := []api.Option{api.TakeOver(), api.Reimage(), api.IfAbsent()}
	if node.Binding != nil {
		options[2] = api.IfRevision(node.Binding.Revision)
	}
	message := wiped(node)
	diagnostics := w.site.Call(ctx, "wipe node "+name, func(ctx context.Context, client *api.Client) error {
		binding, err := client.PutBinding(ctx, api.BindingSpec{Node: node.MAC, Wipe: level}, options...)
		message.To = binding.Generation
		return err //nolint:wrapcheck // Call explains it
	})
	if diagnostics.HasError() {
		return "", diagnostics
	}
	return message.String() + " at its next boot", diagnostics
}

// wiped is the planned wipe of a node.
func wiped(node api.Node) site.Reimage {
	one := site.Reimage{Node: node.Name, MAC: node.MAC, From: node.Status.Generation}
	if node.Binding != nil {
		one.From = max(one.From, node.Binding.Generation)
	}
	one.To = api.NextGeneration(one.From, node.Status.Generation)
	return one
}
