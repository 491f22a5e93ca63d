// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*nodesData)(nil)

type nodesData struct{ site *site.Site }

// NewNodesDataSource is data sled_nodes.
func NewNodesDataSource() datasource.DataSource { return &nodesData{} }

// chosen is data sled_nodes.
type chosen struct {
	filter
	MACs  []string `tfsdk:"macs"`
	Nodes []one    `tfsdk:"nodes"`
}

type one struct {
	observed
	MAC  types.String `tfsdk:"mac"`
	Name types.String `tfsdk:"name"`
}

func (d *nodesData) Metadata(_ context.Context, request datasource.MetadataRequest,
	response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_nodes"
}

func (d *nodesData) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	d.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (d *nodesData) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	single := map[string]schema.Attribute{
		"mac":  schema.StringAttribute{Computed: true, MarkdownDescription: "MAC, in lower case with colons."},
		"name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name; null when it is not declared."},
	}
	maps.Copy(single, observedSchema())
	response.Schema = schema.Schema{
		MarkdownDescription: "The machines of the fleet that match a filter, declared or only discovered, ordered " +
			"by MAC.",
		Attributes: map[string]schema.Attribute{
			"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType,
				MarkdownDescription: labelsText + " Default: all nodes.",
				Validators:          labelFilter()},
			"phase": schema.StringAttribute{Optional: true, Validators: phaseFilter(),
				MarkdownDescription: phaseText + " Default: any."},
			"image":      schema.StringAttribute{Optional: true, MarkdownDescription: imageText + " Default: any."},
			"discovered": schema.BoolAttribute{Optional: true, MarkdownDescription: discoveredText + " Default: both."},
			"macs": schema.ListAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "MACs of the nodes that match."},
			"nodes": schema.ListNestedAttribute{Computed: true,
				NestedObject:        schema.NestedAttributeObject{Attributes: single},
				MarkdownDescription: "The nodes that match. With thousands of nodes `macs` is much cheaper to use."},
		},
	}
}

func (d *nodesData) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var c chosen
	if response.Diagnostics.Append(request.Config.Get(ctx, &c)...); response.Diagnostics.HasError() {
		return
	}
	nodes, diagnostics := c.list(ctx, d.site, 0)
	if response.Diagnostics.Append(diagnostics...); diagnostics.HasError() {
		return
	}
	c.MACs, c.Nodes = make([]string, len(nodes)), make([]one, len(nodes))
	for i, node := range nodes {
		c.MACs[i], c.Nodes[i] = node.MAC, one{observed: observedOf(node), MAC: types.StringValue(node.MAC),
			Name: text(node.Name)}
	}
	response.Diagnostics.Append(response.State.Set(ctx, &c)...)
}
