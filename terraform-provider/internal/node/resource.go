// SPDX-License-Identifier: Apache-2.0

// Package node is sled_node: the declaration of a machine, and its data sources.
package node

import (
	"context"
	"fmt"
	"maps"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ resource.ResourceWithConfigure   = (*node)(nil)
	_ resource.ResourceWithIdentity    = (*node)(nil)
	_ resource.ResourceWithImportState = (*node)(nil)
	_ resource.ResourceWithModifyPlan  = (*node)(nil)
)

// nameRule is the text of errors for a name that does not match namePattern.
const nameRule = "must have only a-z 0-9 and -, at most 63, not starting or ending with -; hostname of the binding " +
	"takes a name with dots"

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// driverPattern is what sledd accepts as the name of a power driver.
var driverPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

type node struct{ site *site.Site }

// NewResource is sled_node.
func NewResource() resource.Resource { return &node{} }

func (n *node) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_node"
	response.ResourceBehavior.MutableIdentity = true
}

func (n *node) Configure(_ context.Context, request resource.ConfigureRequest, response *resource.ConfigureResponse) {
	n.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (n *node) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest,
	response *resource.IdentitySchemaResponse) {
	response.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"mac": identityschema.StringAttribute{RequiredForImport: true,
			Description: "MAC of the node, in any usual spelling."},
	}}
}

func (n *node) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "A machine: its identity, and which of its disks Sled may use. Declaring one changes " +
			"nothing on it, and " +
			"neither does destroying this resource: `sled_binding` and `sled_bindings` decide what runs on it.",
		Attributes: map[string]schema.Attribute{
			"mac": schema.StringAttribute{Required: true, CustomType: mac.Type{},
				PlanModifiers: []planmodifier.String{mac.KeepSpelling()},
				MarkdownDescription: "MAC of the interface that boots, with colons or hyphens, in upper or lower " +
					"case. Another MAC under the same name is the same machine with a new network card or mainboard: " +
					"it keeps binding, generation and history, and nothing is imaged. Another MAC and another name are " +
					"another node."},
			"macs": schema.SetAttribute{Optional: true, ElementType: types.StringType,
				Validators: []validator.Set{setvalidator.SizeAtMost(8), setvalidator.ValueStringsAre(mac.Canonical())},
				MarkdownDescription: "MACs of further interfaces that the machine may boot from, lower case with colons. " +
					"At most 8; a MAC belongs to one node. `mac` names the node whichever of them boots."},
			"name": schema.StringAttribute{Required: true,
				Validators: []validator.String{stringvalidator.RegexMatches(namePattern,
					nameRule), notMAC{}},
				MarkdownDescription: "Unique host name. Changing it renames the node."},
			"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType,
				Validators: []validator.Map{mapvalidator.SizeAtMost(64), mapvalidator.NoNullValues(), declared.Labels{}},
				MarkdownDescription: "Free labels to select nodes by, also in Sled's Ansible inventory. At most 64. A name " +
					"has A-Z a-z 0-9 . _ / -, a value is one line of at most 255 bytes."},
			"bmc": schema.SingleNestedAttribute{Optional: true, Attributes: bmcSchema(),
				MarkdownDescription: "Power control of the machine. The playbooks have its credentials."},
		},
	}
	maps.Copy(response.Schema.Attributes, declared.Schema(attribute.Plain(attribute.Node)))
}

func bmcSchema() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"driver": schema.StringAttribute{Required: true, Validators: []validator.String{
			stringvalidator.RegexMatches(driverPattern, "must be a name of a-z, 0-9 and _"),
			stringvalidator.LengthAtMost(32)},
			MarkdownDescription: "Name of the power driver that the playbooks use, such as `ipmi`."},
		"address": schema.StringAttribute{Optional: true,
			Validators:          []validator.String{stringvalidator.LengthBetween(1, 255)},
			MarkdownDescription: "Name or address of the power control. Default: none; `wol` needs none."},
		"port": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.Between(1, 65535)},
			MarkdownDescription: "Its port. Default: the driver's."},
	}
}

// notMAC refuses names that would be read as a MAC.
type notMAC struct{}

func (notMAC) Description(context.Context) string { return "a name is not a MAC" }

func (v notMAC) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (notMAC) ValidateString(_ context.Context, request validator.StringRequest, response *validator.StringResponse) {
	name := request.ConfigValue.ValueString()
	if api.LooksLikeMAC(name) {
		response.Diagnostics.AddAttributeError(request.Path, "The name is a MAC",
			fmt.Sprintf("%q would be read as a MAC: choose another name.", name))
	}
}
