// SPDX-License-Identifier: Apache-2.0

// Package action is sled_reimage, for Terraform 1.14 and later. reimage_trigger of a binding works everywhere.
package action

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/actionvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
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
	_ action.ActionWithConfigure        = (*reimage)(nil)
	_ action.ActionWithModifyPlan       = (*reimage)(nil)
	_ action.ActionWithConfigValidators = (*reimage)(nil)
)

type reimage struct{ site *site.Site }

// NewReimage makes the action sled_reimage.
func NewReimage() action.Action { return &reimage{} }

type config struct {
	Node  types.String `tfsdk:"node"`
	Nodes types.Set    `tfsdk:"nodes"`
}

// names returns the nodes that are known.
func (c config) names(ctx context.Context) ([]string, diag.Diagnostics) {
	if name := c.Node.ValueString(); name != "" {
		return []string{name}, nil
	}
	if c.Nodes.IsNull() || c.Nodes.IsUnknown() {
		return nil, nil
	}
	var all []types.String
	diagnostics := c.Nodes.ElementsAs(ctx, &all, false)
	var names []string
	for _, one := range all {
		if name := one.ValueString(); name != "" {
			names = append(names, name)
		}
	}
	return names, diagnostics
}

func (r *reimage) Metadata(_ context.Context, request action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_reimage"
}

func (r *reimage) Configure(_ context.Context, request action.ConfigureRequest, response *action.ConfigureResponse) {
	r.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (r *reimage) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "Images machines again: raises the generation of their bindings, regardless of their " +
			"owner, and changes nothing " +
			"else. **Their disks are wiped at the next boot.** It does not wait; `sled_ready` does. Needs " +
			"Terraform 1.14; `reimage_trigger` of " +
			"`sled_binding` does the same with every version and with OpenTofu.",
		Attributes: map[string]schema.Attribute{
			"node": schema.StringAttribute{Optional: true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
				MarkdownDescription: "MAC or name of the machine. This or `nodes`."},
			"nodes": schema.SetAttribute{Optional: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
				MarkdownDescription: "MACs or names of several machines. This or `node`."},
		},
	}
}

func (r *reimage) ConfigValidators(context.Context) []action.ConfigValidator {
	return []action.ConfigValidator{actionvalidator.ExactlyOneOf(path.MatchRoot("node"), path.MatchRoot("nodes"))}
}

// ModifyPlan warns of each disk, and counts the machines for max_reimages. A node that is not bound yet may be by the
// time of the action.
func (r *reimage) ModifyPlan(ctx context.Context, request action.ModifyPlanRequest,
	response *action.ModifyPlanResponse) {
	if r.site == nil {
		return // the provider is not configured yet
	}
	names, diagnostics := r.read(ctx, request.Config.Get)
	response.Diagnostics.Append(diagnostics...)
	var planned []site.Reimage
	for _, name := range names {
		node, diagnostics := r.node(ctx, name)
		response.Diagnostics.Append(diagnostics...)
		if node.Binding != nil && node.Binding.Capture == "" {
			planned = append(planned, again(node))
		}
	}
	response.Diagnostics.Append(r.site.Plan(planned...)...)
}

// Invoke raises the generations one by one. A refused one does not stop the others.
func (r *reimage) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	names, diagnostics := r.read(ctx, request.Config.Get)
	response.Diagnostics.Append(diagnostics...)
	done := map[string]bool{} // by MAC: a node may be named in two ways
	for _, name := range names {
		node, diagnostics := r.node(ctx, name)
		response.Diagnostics.Append(diagnostics...)
		if diagnostics.HasError() || done[node.MAC] {
			continue
		}
		done[node.MAC] = true
		message, diagnostics := r.raise(ctx, name, node)
		response.Diagnostics.Append(diagnostics...)
		if message != "" {
			response.SendProgress(action.InvokeProgressEvent{Message: message})
		}
	}
}

func (r *reimage) read(ctx context.Context, get func(context.Context, any) diag.Diagnostics) ([]string,
	diag.Diagnostics) {
	var c config
	diagnostics := get(ctx, &c)
	if diagnostics.HasError() {
		return nil, diagnostics
	}
	names, more := c.names(ctx)
	diagnostics.Append(more...)
	return names, diagnostics
}

// node reads a node; an unknown one is empty, without a binding.
func (r *reimage) node(ctx context.Context, name string) (api.Node, diag.Diagnostics) {
	var node api.Node
	diagnostics := r.site.Call(ctx, "read node "+name, func(ctx context.Context, client *api.Client) error {
		var err error
		if node, err = client.Node(ctx, name); api.IsNotFound(err) {
			return nil
		}
		return err //nolint:wrapcheck // Call explains it
	})
	return node, diagnostics
}

// raise raises the generation of the binding that was read, and returns what was done.
func (r *reimage) raise(ctx context.Context, name string, node api.Node) (string, diag.Diagnostics) {
	if node.Binding == nil {
		return "", diag.Diagnostics{diag.NewErrorDiagnostic("Node "+name+" cannot be imaged again",
			"It has no binding. Declare a sled_binding for it.")}
	}
	if node.Binding.Capture != "" {
		return "", diag.Diagnostics{diag.NewErrorDiagnostic("Node "+name+" cannot be imaged again",
			"Its binding captures its disk as image "+node.Binding.Capture+", which is done once. Bind it to an "+
				"image first.")}
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
	disk := node.Binding.Disk
	if disk == "" {
		disk = node.Disk
	}
	disk = api.MeantBy(disk, node.KeepDisks, node.Facts.Candidates())
	return site.Reimage{Node: node.Name, Disk: disk, Image: node.Binding.Image,
		From: node.Binding.Generation, To: api.NextGeneration(node.Binding.Generation, node.Status.Generation)}
}
