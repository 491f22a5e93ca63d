// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ action.ActionWithConfigure        = (*reimage)(nil)
	_ action.ActionWithModifyPlan       = (*reimage)(nil)
	_ action.ActionWithConfigValidators = (*reimage)(nil)
)

type reimage struct{ machines }

// NewReimage makes the action sled_reimage.
func NewReimage() action.Action { return &reimage{} }

func (r *reimage) Metadata(_ context.Context, request action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_reimage"
}

func (r *reimage) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	response.Schema = schema.Schema{Attributes: attributes(),
		MarkdownDescription: "Images machines again: raises the generation of their bindings, regardless of their " +
			"owner, and changes nothing else. **Their disks are wiped at the next boot.** It does not wait; `sled_ready` " +
			"does. Needs Terraform 1.14; `reimage_trigger` of `sled_binding` does the same with every version and with " +
			"OpenTofu."}
}

func (r *reimage) ModifyPlan(ctx context.Context, request action.ModifyPlanRequest,
	response *action.ModifyPlanResponse) {
	response.Diagnostics.Append(r.plan(ctx, request.Config, func(node api.Node) []site.Reimage {
		if node.Binding == nil || node.Binding.Capture != "" {
			return nil
		}
		return []site.Reimage{again(node)}
	})...)
}

// Invoke raises the generations one by one.
func (r *reimage) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	r.each(ctx, request.Config, response, func(name string, node api.Node) (string, diag.Diagnostics) {
		return r.raise(ctx, name, node)
	})
}

// raise raises the generation of the binding that was read, and returns what was done.
func (r *reimage) raise(ctx context.Context, name string, node api.Node) (string, diag.Diagnostics) {
	if node.Binding == nil {
		return "", unable(name, "imaged again", "It has no binding. Declare a sled_binding for it.")
	}
	if node.Binding.Capture != "" {
		return "", unable(name, "imaged again", "Its binding captures its disk as image "+node.Binding.Capture+
			", which is done once. Bind it to an image first.")
	}
	message := again(node)
	diagnostics := r.site.Call(ctx, "image node "+name+" again", func(ctx context.Context, client *api.Client) error {
		binding, err := client.ReimageBinding(ctx, node.MAC, api.IfRevision(node.Binding.Revision))
		message.To = binding.Generation
		return err //nolint:wrapcheck // Call explains it
	})
	if diagnostics.HasError() {
		return "", diagnostics
	}
	return message.String() + " at its next boot", diagnostics
}

// again is the planned reimage of a bound node.
func again(node api.Node) site.Reimage {
	disk := api.MeantBy(cmp.Or(node.Binding.Disk, node.Disk), node.KeepDisks, node.Facts.Candidates())
	return site.Reimage{Node: node.Name, MAC: node.MAC, Disk: disk, Image: node.Binding.Image,
		From: node.Binding.Generation, To: api.NextGeneration(node.Binding.Generation, node.Status.Generation)}
}
