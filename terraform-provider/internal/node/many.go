// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

var (
	_ resource.ResourceWithConfigure      = (*nodes)(nil)
	_ resource.ResourceWithModifyPlan     = (*nodes)(nil)
	_ resource.ResourceWithValidateConfig = (*nodes)(nil)
)

// nodes is sled_nodes: the declarations of many machines.
type nodes struct{ site *site.Site }

// NewManyResource is sled_nodes.
func NewManyResource() resource.Resource { return &nodes{} }

func (n *nodes) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_nodes"
}

func (n *nodes) Configure(_ context.Context, request resource.ConfigureRequest, response *resource.ConfigureResponse) {
	n.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (n *nodes) Schema(ctx context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	var one resource.SchemaResponse
	(&node{}).Schema(ctx, resource.SchemaRequest{}, &one)
	attributes := map[string]schema.Attribute{
		"names": schema.MapAttribute{Required: true, ElementType: types.StringType,
			Validators: []validator.Map{mac.Keys{}, mapvalidator.NoNullValues()},
			MarkdownDescription: "MAC (lower case, with colons) to unique host name. Another MAC under the same name is " +
				"the same machine with a new network card or mainboard: it keeps binding, generation and history."},
		"disks": schema.MapAttribute{Optional: true, ElementType: types.StringType,
			Validators: []validator.Map{mac.Keys{}, mapvalidator.NoNullValues()},
			MarkdownDescription: "MAC to selector of the disk, for machines that `disk` does not fit, such as " +
				"`serial:LAB-0001`."},
		"bmc_driver": schema.StringAttribute{Optional: true,
			Validators: []validator.String{stringvalidator.RegexMatches(driverPattern, "must be a name of a-z, 0-9 and _"),
				stringvalidator.LengthAtMost(32)},
			MarkdownDescription: "Power driver of all machines, such as `ipmi`. Default: no power control is declared."},
		"bmc_addresses": schema.MapAttribute{Optional: true, ElementType: types.StringType,
			Validators: []validator.Map{mac.Keys{}, mapvalidator.NoNullValues(),
				mapvalidator.AlsoRequires(path.MatchRoot("bmc_driver"))},
			MarkdownDescription: "MAC to name or address of the power control."},
		"drifted": schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "The exceptions: MAC of a machine whose declaration somebody else changed, to the " +
				"attributes that differ. The next apply sets them back."},
	}
	attributes["labels"] = one.Schema.Attributes["labels"]
	maps.Copy(attributes, declared.Schema(attribute.Plain(attribute.Node)))
	response.Schema = schema.Schema{Attributes: attributes,
		MarkdownDescription: "The declarations of many machines, with what they have in common written once. Made for " +
			"thousands of machines, where one `sled_node` each makes plans slow. Machines that differ in more belong in " +
			"another `sled_nodes` or in `sled_node`.\n\n" +
			"A machine that is declared already with the same values is taken over; with other values it is an error in " +
			"the plan. So there is no import. Declaring machines changes nothing on them, and neither does destroying this " +
			"resource. A bound machine cannot be removed."}
}

// ValidateConfig finds what would surely fail: two machines of one name, and keys of machines that names does not have.
func (n *nodes) ValidateConfig(ctx context.Context, request resource.ValidateConfigRequest,
	response *resource.ValidateConfigResponse) {
	var m manyModel
	response.Diagnostics.Append(request.Config.Get(ctx, &m)...)
	if response.Diagnostics.HasError() || unknown(m.Names) {
		return
	}
	names, holders := stringsOf(m.Names), map[string]string{}
	var bad []string
	for _, address := range slices.Sorted(maps.Keys(names)) {
		name := names[address]
		switch other, twice := holders[name]; {
		case twice:
			bad = append(bad, fmt.Sprintf("%s and %s are both called %s", other, address, name))
		case !namePattern.MatchString(name) || api.LooksLikeMAC(name):
			bad = append(bad, fmt.Sprintf("%s: name %q: %s; and no MAC", address, name, nameRule))
		}
		holders[name] = address
	}
	if len(bad) > 0 {
		response.Diagnostics.AddAttributeError(path.Root("names"), "Names that cannot be", textlist.Lines(bad))
	}
	for name, values := range map[string]types.Map{"disks": m.Disks, "bmc_addresses": m.BMCAddresses} {
		var lost []string
		for address := range values.Elements() {
			if _, found := names[address]; !found {
				lost = append(lost, address)
			}
		}
		if slices.Sort(lost); len(lost) > 0 {
			response.Diagnostics.AddAttributeError(path.Root(name), "Machines that are missing in names",
				"Add them to names, or remove them here:\n"+textlist.Lines(lost))
		}
	}
}
