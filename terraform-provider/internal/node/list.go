// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

var _ list.ListResourceWithConfigure = (*nodeList)(nil)

// nodeList finds nodes for `terraform query`.
type nodeList struct{ node }

// NewListResource is list sled_node.
func NewListResource() list.ListResource { return &nodeList{} }

func (l *nodeList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest,
	response *list.ListResourceSchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "Finds machines to import (`terraform query`, Terraform 1.14 and later): declared " +
			"ones, and with `discovered = true` those " +
			"that booted from this server and are not declared. A discovered machine has no name: add one to the " +
			"generated " +
			"configuration.",
		Attributes: map[string]schema.Attribute{
			"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType,
				MarkdownDescription: labelsText + " Default: all nodes.",
				Validators:          labelFilter()},
			"phase": schema.StringAttribute{Optional: true, Validators: phaseFilter(),
				MarkdownDescription: phaseText + " Default: any."},
			"image":      schema.StringAttribute{Optional: true, MarkdownDescription: imageText + " Default: any."},
			"discovered": schema.BoolAttribute{Optional: true, MarkdownDescription: discoveredText + " Default: both."},
		},
	}
}

func (l *nodeList) List(ctx context.Context, request list.ListRequest, stream *list.ListResultsStream) {
	var f filter
	diagnostics := request.Config.Get(ctx, &f)
	if !diagnostics.HasError() {
		var nodes []api.Node
		nodes, diagnostics = f.list(ctx, l.site, request.Limit)
		stream.Results = results(ctx, request, nodes)
	}
	if diagnostics.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diagnostics)
	}
}

func results(ctx context.Context, request list.ListRequest, nodes []api.Node) func(func(list.ListResult) bool) {
	return func(push func(list.ListResult) bool) {
		for _, stored := range nodes {
			result := request.NewListResult(ctx)
			result.DisplayName = title(stored.Name, stored.MAC)
			result.Diagnostics.Append(identify(ctx, result.Identity, stored.MAC)...)
			if request.IncludeResource {
				var m model
				m.fill(ctx, stored.NodeSpec)
				result.Diagnostics.Append(result.Resource.Set(ctx, &m)...)
			}
			if !push(result) {
				return
			}
		}
	}
}
