// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// uuidPattern is how sledd writes a UUID.
var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

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
			"token": schema.StringAttribute{Optional: true, Sensitive: true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1),
					stringvalidator.ConflictsWith(path.MatchRoot("token_file"))},
				MarkdownDescription: "The token itself, such as from an ephemeral resource of a vault. Arguments of a provider " +
					"are in no state; in a saved plan are only those that are not ephemeral."},
			"ca_file": schema.StringAttribute{Optional: true,
				MarkdownDescription: "PEM file of the CA of the boot server. Default: `SLED_CA`, else the system's."},
			"ca_certificate": schema.StringAttribute{Optional: true,
				Validators:          []validator.String{stringvalidator.ConflictsWith(path.MatchRoot("ca_file"))},
				MarkdownDescription: "The CA of the boot server as PEM text, instead of `ca_file`."},
			"request_timeout": schema.StringAttribute{Optional: true, Validators: []validator.String{duration{}},
				MarkdownDescription: "Time for one request to sledd, such as `30s` or `1m`, at least the default: 8 seconds, for " +
					"requests about many machines 2 minutes."},
			"owner": schema.StringAttribute{Optional: true,
				Validators: []validator.String{stringvalidator.RegexMatches(site.OwnerPattern,
					"must have only a-z 0-9 . _ - /, at most 64")},
				MarkdownDescription: "Name under which bindings are declared. sledd refuses changes to those of " +
					"another owner. Default: " +
					"`terraform`."},
			"fleet": schema.StringAttribute{Optional: true,
				Validators: []validator.String{stringvalidator.RegexMatches(uuidPattern, "must be a UUID, in lower case")},
				MarkdownDescription: "UUID of the fleet, as `sledctl store` prints it. A server of another fleet is an " +
					"error. A state of another fleet is accepted, and belongs to this one from then on; without this " +
					"argument it is an error, so that a lost store or a wrong `server` changes nothing."},
			"applying": schema.BoolAttribute{Optional: true,
				MarkdownDescription: "Set it to `terraform.applying`, so that bindings may be replaced with " +
					"`create_before_destroy`, also where a dependent resource forces that: a new binding over the one that it " +
					"replaces is then a reimage in place, as the plan showed. Without it such an apply fails. Default: `false`."},
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
	Token       types.String `tfsdk:"token"`
	CAFile      types.String `tfsdk:"ca_file"`
	CA          types.String `tfsdk:"ca_certificate"`
	Timeout     types.String `tfsdk:"request_timeout"`
	Owner       types.String `tfsdk:"owner"`
	Fleet       types.String `tfsdk:"fleet"`
	MaxReimages types.Int64  `tfsdk:"max_reimages"`
	MaxWipes    types.Int64  `tfsdk:"max_wipes"`
	Applying    types.Bool   `tfsdk:"applying"`
}

func (p *provider) Configure(ctx context.Context, request framework.ConfigureRequest,
	response *framework.ConfigureResponse) {
	var c config
	response.Diagnostics.Append(request.Config.Get(ctx, &c)...)
	if response.Diagnostics.HasError() {
		return
	}
	if !desired.Known(c.Server, c.TokenFile, c.Token, c.CAFile, c.CA, c.Timeout, c.Owner, c.Fleet, c.MaxReimages,
		c.MaxWipes) {
		c.postpone(request, response)
		return
	}
	timeout, _ := time.ParseDuration(c.Timeout.ValueString()) // validated
	options := site.Options{
		Access: api.Config{Server: c.Server.ValueString(), TokenFile: c.TokenFile.ValueString(),
			CAFile: c.CAFile.ValueString(), CA: []byte(c.CA.ValueString()), Token: c.Token.ValueString(),
			UserAgent: "terraform-provider-sled/" + p.version}.FromEnvironment(os.Getenv),
		Owner: c.Owner.ValueString(),
		Fleet: c.Fleet.ValueString(), RequestTimeout: timeout,
		MaxReimages: c.MaxReimages.ValueInt64Pointer(),
		MaxWipes:    c.MaxWipes.ValueInt64Pointer(),
		Applying:    c.Applying.ValueBool(),
	}
	s, diagnostics := site.Connect(ctx, options)
	response.Diagnostics.Append(diagnostics...)
	response.ResourceData, response.DataSourceData, response.ActionData, response.ListResourceData = s, s, s, s
}

// postpone leaves the provider without a server, because an argument is not known yet. A CLI that can defer does so.
// With another one what exists is not refreshed, and a plan shows everything that changes as known after apply; the
// apply plans again with the server.
func (c *config) postpone(request framework.ConfigureRequest, response *framework.ConfigureResponse) {
	if request.ClientCapabilities.DeferralAllowed {
		response.Deferred = &framework.Deferred{Reason: framework.DeferredReasonProviderConfigUnknown}
		return
	}
	response.Diagnostics.AddWarning("The provider is not configured yet", "One of its arguments depends on a resource "+
		"that does not exist yet. Nothing of sledd was read: the plan shows neither drift nor which disks are wiped. The "+
		"limits of the provider are checked when it is applied.")
}

// duration accepts what Go reads as one.
type duration struct{}

func (duration) Description(context.Context) string { return "a time such as 30s or 2m" }

func (d duration) MarkdownDescription(ctx context.Context) string { return d.Description(ctx) }

func (d duration) ValidateString(ctx context.Context, request validator.StringRequest,
	response *validator.StringResponse) {
	text := request.ConfigValue.ValueString()
	if found, err := time.ParseDuration(text); !request.ConfigValue.IsUnknown() && !request.ConfigValue.IsNull() &&
		(err != nil || found <= 0) {
		response.Diagnostics.AddAttributeError(request.Path, "Not a time",
			fmt.Sprintf("%q: want %s.", text, d.Description(ctx)))
	}
}
