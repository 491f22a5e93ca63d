// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

var _ list.ListResourceWithConfigure = (*bindingList)(nil)

// bindingList finds bindings for `terraform query`.
type bindingList struct{ binding }

// NewListResource is list sled_binding.
func NewListResource() list.ListResource { return &bindingList{} }

// listed is its configuration.
type listed struct {
	Owner types.String `tfsdk:"owner"`
	Image types.String `tfsdk:"image"`
}

func (l *bindingList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest,
	response *list.ListResourceSchemaResponse) {
	some := []validator.String{stringvalidator.LengthAtLeast(1)}
	response.Schema = schema.Schema{
		MarkdownDescription: "Finds bindings to import (`terraform query`, Terraform 1.14 and later), whoever declared " +
			"them. Those that capture a disk are left out. An import images nothing; user data is not in the generated " +
			"configuration, and absent there it stays as it is stored.",
		Attributes: map[string]schema.Attribute{
			"owner": schema.StringAttribute{Optional: true, Validators: some,
				MarkdownDescription: "Only bindings of this owner, such as `terraform` or `terraform:rack-a`. Default: all."},
			"image": schema.StringAttribute{Optional: true, Validators: some,
				MarkdownDescription: "Only bindings to this image. Default: all."},
		},
	}
}

func (l *bindingList) List(ctx context.Context, request list.ListRequest, stream *list.ListResultsStream) {
	var c listed
	var nodes []api.Node
	diagnostics := request.Config.Get(ctx, &c)
	if !diagnostics.HasError() {
		diagnostics = l.site.CallBulk(ctx, "list the bound nodes", func(ctx context.Context, client *api.Client) error {
			for node, err := range client.Nodes(ctx, api.Filter{Owner: c.Owner.ValueString()}) {
				if err != nil {
					return err //nolint:wrapcheck // the site explains it
				}
				if bound := node.Binding; bound == nil || bound.Capture != "" || !c.matches(*bound) {
					continue
				}
				if nodes = append(nodes, node); int64(len(nodes)) == request.Limit {
					break
				}
			}
			return nil
		})
	}
	if stream.Results = l.results(ctx, request, nodes); diagnostics.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diagnostics)
	}
}

// matches reports whether a binding is to be listed.
func (c listed) matches(bound api.Binding) bool {
	return (c.Owner.IsNull() || bound.Owner == c.Owner.ValueString()) &&
		(c.Image.IsNull() || bound.Image == c.Image.ValueString())
}

func (l *bindingList) results(ctx context.Context, request list.ListRequest,
	nodes []api.Node) func(func(list.ListResult) bool) {
	return func(push func(list.ListResult) bool) {
		for _, node := range nodes {
			result := request.NewListResult(ctx)
			result.DisplayName = fmt.Sprintf("%s (%s), %s", node.Name, node.MAC, desired.Of(*node.Binding).Goal())
			result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root("mac"), node.MAC)...)
			if request.IncludeResource {
				m := imported(node)
				result.Diagnostics.Append(result.Resource.Set(ctx, &m)...)
			}
			if !push(result) {
				return
			}
		}
	}
}

// imported is the state of a binding that is imported.
func imported(node api.Node) model {
	m := model{Node: types.StringValue(node.MAC), OnDrift: types.StringValue(string(desired.Warn)),
		OnDestroy: types.StringValue("keep")}
	m.AuthorizedKeys = types.ListNull(types.StringType)
	m.Take(desired.Of(*node.Binding))
	m.refresh(node, nil)
	return m
}
