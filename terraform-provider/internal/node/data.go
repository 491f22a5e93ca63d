// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ datasource.DataSourceWithConfigure        = (*nodeData)(nil)
	_ datasource.DataSourceWithConfigValidators = (*nodeData)(nil)
)

type nodeData struct{ site *site.Site }

// NewDataSource is data sled_node.
func NewDataSource() datasource.DataSource { return &nodeData{} }

// known is data sled_node.
type known struct {
	declared.Node
	observed
	facts
	MAC  mac.Value    `tfsdk:"mac"`
	MACs []string     `tfsdk:"macs"`
	Name types.String `tfsdk:"name"`
	BMC  *bmcModel    `tfsdk:"bmc"`
}

// facts is the hardware as the machine reports it.
type facts struct {
	Kernel   map[string]string   `tfsdk:"kernel"`
	CPU      map[string]string   `tfsdk:"cpu"`
	Memory   map[string]string   `tfsdk:"memory"`
	Firmware map[string]string   `tfsdk:"firmware"`
	DMI      map[string]string   `tfsdk:"dmi"`
	Disks    []map[string]string `tfsdk:"disks"`
	NICs     []map[string]string `tfsdk:"nics"`

	Partitions []map[string]string `tfsdk:"partitions"`
}

func factsOf(f *api.Facts) facts {
	if f == nil {
		return facts{}
	}
	return facts{Kernel: api.Strings(f.Kernel), CPU: api.Strings(f.CPU), Memory: api.Strings(f.Memory),
		Firmware: api.Strings(f.Firmware), DMI: api.Strings(f.DMI), Disks: devices(f.Disks), NICs: devices(f.NICs),
		Partitions: devices(f.Partitions)}
}

func devices(list []map[string]api.Identifier) []map[string]string {
	var found []map[string]string
	for _, device := range list {
		found = append(found, api.Strings(device))
	}
	return found
}

func (d *nodeData) Metadata(_ context.Context, request datasource.MetadataRequest,
	response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_node"
}

func (d *nodeData) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	d.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (d *nodeData) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("mac"), path.MatchRoot("name"))}
}

func (d *nodeData) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"mac": schema.StringAttribute{Optional: true, Computed: true, CustomType: mac.Type{},
			MarkdownDescription: "MAC of the node, with colons or hyphens. Set this or `name`."},
		"macs": schema.SetAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "MACs of further interfaces that the machine may boot from; null for none."},
		"name": schema.StringAttribute{Optional: true, Computed: true,
			MarkdownDescription: "Name of the node. Set this or `mac`."},
		"bmc": schema.SingleNestedAttribute{Computed: true, MarkdownDescription: "Its power control; null when " +
			"none is declared.",
			Attributes: map[string]schema.Attribute{
				"driver": schema.StringAttribute{Computed: true,
					MarkdownDescription: "Name of the power driver, such as `ipmi`."},
				"address": schema.StringAttribute{Computed: true,
					MarkdownDescription: "Name or address; null when there is none."},
				"port": schema.Int64Attribute{Computed: true, MarkdownDescription: "Port; null: the driver's."},
			}},
	}
	maps.Copy(attributes, observedSchema())
	maps.Copy(attributes, declared.Known(attribute.Plain(attribute.Node)))
	maps.Copy(attributes, factsSchema())
	response.Schema = schema.Schema{Attributes: attributes, MarkdownDescription: "One machine: its declaration, " +
		"its observed state and its " +
		"hardware. A machine that is not declared is found by its MAC once it has booted from this server."}
}

func factsSchema() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for name, what := range map[string]string{"kernel": "Its Sled system's kernel", "cpu": "Its processors",
		"memory":   "Its memory",
		"firmware": "Its firmware", "dmi": "Maker, model and serial numbers"} {
		attributes[name] = schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: what + ", as the machine reports it; null before it was seen."}
	}
	for name, what := range map[string]string{"disks": "Its disks", "nics": "Its network interfaces",
		"partitions": "The partitions of its disks (`disk`, `number`, `label`, `uuid`, `bytes`, `type`)"} {
		attributes[name] = schema.ListAttribute{Computed: true, ElementType: types.MapType{ElemType: types.StringType},
			MarkdownDescription: what + ", as the machine reports it; null before it was seen."}
	}
	return attributes
}

func (d *nodeData) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var k known
	if response.Diagnostics.Append(request.Config.Get(ctx, &k)...); response.Diagnostics.HasError() {
		return
	}
	reference := k.Name.ValueString()
	if !k.MAC.IsNull() {
		reference = k.MAC.Address()
	}
	stored, found, diagnostics := read(ctx, d.site, reference, "node "+reference)
	if response.Diagnostics.Append(diagnostics...); diagnostics.HasError() {
		return
	}
	if !found {
		response.Diagnostics.AddError("Node "+reference+" does not exist",
			"It is not declared and never booted from this server.")
		return
	}
	k = known{observed: observedOf(stored), facts: factsOf(stored.Facts), MAC: mac.Of(stored.MAC), MACs: stored.MACs,
		Name: text(stored.Name), BMC: bmcOf(stored.BMC)}
	declared.Take(ctx, &k.Node, stored.NodeSpec, attribute.Node)
	response.Diagnostics.Append(response.State.Set(ctx, &k)...)
}
