// SPDX-License-Identifier: Apache-2.0

// Package provider is the Terraform provider: its configuration, and the list of what it offers.
package provider

import (
	"context"
	"os"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	frameworkaction "github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/action"
	"github.com/sled-fleet/sled/terraform-provider/internal/binding"
	"github.com/sled-fleet/sled/terraform-provider/internal/bindings"
	"github.com/sled-fleet/sled/terraform-provider/internal/image"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/node"
	"github.com/sled-fleet/sled/terraform-provider/internal/ready"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ framework.ProviderWithActions       = (*provider)(nil)
	_ framework.ProviderWithFunctions     = (*provider)(nil)
	_ framework.ProviderWithListResources = (*provider)(nil)
)

// uuidPattern is how sledd writes a UUID.
var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

type provider struct{ version string }

// New returns a factory of providers of this version.
func New(version string) func() framework.Provider {
	return func() framework.Provider { return &provider{version} }
}

func (p *provider) Metadata(_ context.Context, _ framework.MetadataRequest, response *framework.MetadataResponse) {
	response.TypeName, response.Version = "sled", p.version
}

func (p *provider) Schema(_ context.Context, _ framework.SchemaRequest, response *framework.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "Declares which machine of a Sled fleet gets which image. Terraform stores the " +
			"desired state; the " +
			"machine applies it at its next network boot, or at once when it waits in the Sled system. " +
			"`playbooks/reimage.yml` of Sled images all machines that need it.",
		Attributes: map[string]schema.Attribute{
			"server": schema.StringAttribute{Optional: true,
				MarkdownDescription: "`https://ADDRESS` of the boot server. Default: `SLED_SERVER`."},
			"token_file": schema.StringAttribute{Optional: true,
				MarkdownDescription: "File that holds an operator's token with role `operate`. Default: " +
					"`SLED_TOKEN`, which holds the token, or `SLED_TOKEN_FILE`."},
			"ca_file": schema.StringAttribute{Optional: true,
				MarkdownDescription: "PEM file of the CA of the boot server. Default: `SLED_CA`, else the system's."},
			"owner": schema.StringAttribute{Optional: true,
				Validators: []validator.String{stringvalidator.RegexMatches(site.OwnerPattern,
					"want a-z 0-9 . _ - /, at most 64")},
				MarkdownDescription: "Name under which bindings are declared. sledd refuses changes to those of " +
					"another owner. Default: " +
					"`terraform`."},
			"fleet": schema.StringAttribute{Optional: true,
				Validators: []validator.String{stringvalidator.RegexMatches(uuidPattern, "want a UUID, in lower case")},
				MarkdownDescription: "UUID of the fleet, as `sledctl store` prints it. A server of another fleet is an " +
					"error. A state of another fleet is accepted, and belongs to this one from then on; without this " +
					"argument it is an error, so that a lost store or a wrong `server` changes nothing."},
			"max_reimages": schema.Int64Attribute{Optional: true,
				Validators: []validator.Int64{int64validator.AtLeast(0)},
				MarkdownDescription: "Maximum number of machines that one plan may image again; more is an error " +
					"that names them. A " +
					"machine's first image does not count, unless the state has the machine as bound. Default: no limit."},
			"max_wipes": schema.Int64Attribute{Optional: true,
				Validators: []validator.Int64{int64validator.AtLeast(0)},
				MarkdownDescription: "Maximum number of machines whose disks one plan may wipe, first images included; " +
					"more is an error. Default: no limit."},
		},
	}
}

// config is the provider block.
type config struct {
	Server      types.String `tfsdk:"server"`
	TokenFile   types.String `tfsdk:"token_file"`
	CAFile      types.String `tfsdk:"ca_file"`
	Owner       types.String `tfsdk:"owner"`
	Fleet       types.String `tfsdk:"fleet"`
	MaxReimages types.Int64  `tfsdk:"max_reimages"`
	MaxWipes    types.Int64  `tfsdk:"max_wipes"`
}

func (p *provider) Configure(ctx context.Context, request framework.ConfigureRequest,
	response *framework.ConfigureResponse) {
	var c config
	response.Diagnostics.Append(request.Config.Get(ctx, &c)...)
	for name, value := range map[string]types.String{"server": c.Server, "token_file": c.TokenFile,
		"ca_file": c.CAFile, "fleet": c.Fleet} {
		if value.IsUnknown() {
			response.Diagnostics.AddAttributeError(path.Root(name), "The provider's "+name+" is not known yet",
				"It depends on a resource that does not exist yet. Use a known value, or apply that resource "+
					"first with -target.")
		}
	}
	if response.Diagnostics.HasError() {
		return
	}
	options := site.Options{
		Access: api.Config{Server: c.Server.ValueString(), TokenFile: c.TokenFile.ValueString(),
			CAFile:    c.CAFile.ValueString(),
			UserAgent: "terraform-provider-sled/" + p.version}.FromEnvironment(os.Getenv),
		Owner:       c.Owner.ValueString(),
		Fleet:       c.Fleet.ValueString(),
		MaxReimages: c.MaxReimages.ValueInt64Pointer(),
		MaxWipes:    c.MaxWipes.ValueInt64Pointer(),
	}
	s, diagnostics := site.Connect(ctx, options)
	response.Diagnostics.Append(diagnostics...)
	response.ResourceData, response.DataSourceData, response.ActionData, response.ListResourceData = s, s, s, s
}

func (p *provider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{node.NewResource, image.NewResource, binding.NewResource,
		bindings.NewResource, ready.NewResource}
}

func (p *provider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{node.NewDataSource, node.NewNodesDataSource, image.NewDataSource,
		image.NewImagesDataSource}
}

func (p *provider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{mac.NewFunction}
}

func (p *provider) Actions(context.Context) []func() frameworkaction.Action {
	return []func() frameworkaction.Action{action.NewReimage}
}

func (p *provider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{node.NewListResource}
}
