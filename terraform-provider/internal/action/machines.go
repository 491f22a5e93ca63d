// SPDX-License-Identifier: Apache-2.0

// Package action is the actions sled_reimage, sled_wipe, sled_rescue and sled_run, for Terraform 1.14 and later.
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

// machines is what all actions have in common: the machines that they are about.
type machines struct{ site *site.Site }

type chosen struct {
	Node  types.String `tfsdk:"node"`
	Nodes types.Set    `tfsdk:"nodes"`
}

func (m *machines) Configure(_ context.Context, request action.ConfigureRequest, response *action.ConfigureResponse) {
	m.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (m *machines) ConfigValidators(context.Context) []action.ConfigValidator {
	return []action.ConfigValidator{actionvalidator.ExactlyOneOf(path.MatchRoot("node"), path.MatchRoot("nodes"))}
}

// attributes are those that choose machines.
func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"node": schema.StringAttribute{Optional: true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			MarkdownDescription: "MAC or name of the machine. This or `nodes`."},
		"nodes": schema.SetAttribute{Optional: true, ElementType: types.StringType,
			Validators:          []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			MarkdownDescription: "MACs or names of several machines. This or `node`."},
	}
}

type getter interface {
	GetAttribute(context.Context, path.Path, any) diag.Diagnostics
}

// read returns the nodes that are known.
func (m *machines) read(ctx context.Context, config getter) ([]string, diag.Diagnostics) {
	var c chosen
	diagnostics := config.GetAttribute(ctx, path.Root("node"), &c.Node)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("nodes"), &c.Nodes)...)
	if name := c.Node.ValueString(); name != "" || diagnostics.HasError() {
		return []string{name}, diagnostics
	}
	if c.Nodes.IsNull() || c.Nodes.IsUnknown() {
		return nil, diagnostics
	}
	var all []types.String
	diagnostics.Append(c.Nodes.ElementsAs(ctx, &all, false)...)
	var names []string
	for _, one := range all {
		if name := one.ValueString(); name != "" {
			names = append(names, name)
		}
	}
	return names, diagnostics
}

// node reads a node; an unknown one is empty, without a binding.
func (m *machines) node(ctx context.Context, name string) (api.Node, diag.Diagnostics) {
	var node api.Node
	diagnostics := m.site.Call(ctx, "read node "+name, func(ctx context.Context, client *api.Client) error {
		var err error
		if node, err = client.Node(ctx, name); api.IsNotFound(err) {
			return nil
		}
		return err //nolint:wrapcheck // Call explains it
	})
	return node, diagnostics
}

// plan warns of each disk that is wiped, and counts the machines for the limits of the provider. wipes returns nothing
// for a machine that is left alone; one that does not exist yet may by the time of the action.
func (m *machines) plan(ctx context.Context, config getter, wipes func(api.Node) []site.Reimage) diag.Diagnostics {
	if m.site == nil {
		return nil // the provider is not configured yet
	}
	names, diagnostics := m.read(ctx, config)
	var planned []site.Reimage
	for _, name := range names {
		node, more := m.node(ctx, name)
		diagnostics.Append(more...)
		if node.Declared {
			planned = append(planned, wipes(node)...)
		}
	}
	diagnostics.Append(m.site.Plan(planned...)...)
	return diagnostics
}

// each does something for each machine once: it may be named in two ways. A refused one does not stop the others.
func (m *machines) each(ctx context.Context, config getter, response *action.InvokeResponse,
	do func(name string, node api.Node) (string, diag.Diagnostics)) {
	names, diagnostics := m.read(ctx, config)
	response.Diagnostics.Append(diagnostics...)
	done := map[string]bool{}
	for _, name := range names {
		node, diagnostics := m.node(ctx, name)
		response.Diagnostics.Append(diagnostics...)
		if diagnostics.HasError() || done[node.MAC] {
			continue
		}
		done[node.MAC] = node.MAC != ""
		message, diagnostics := do(name, node)
		response.Diagnostics.Append(diagnostics...)
		if message != "" && !diagnostics.HasError() {
			response.SendProgress(action.InvokeProgressEvent{Message: message})
		}
	}
}

// unable is the error for a machine that an action cannot be done to.
func unable(name, what, why string) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic("Node "+name+" cannot be "+what, why)}
}
