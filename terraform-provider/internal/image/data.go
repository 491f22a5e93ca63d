// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*one)(nil)

// registered is an image as data sources give it.
type registered struct {
	Name         types.String `tfsdk:"name"`
	URLs         []string     `tfsdk:"urls"`
	Digest       string       `tfsdk:"digest"`
	Bytes        int64        `tfsdk:"bytes"`
	FileBytes    int64        `tfsdk:"file_bytes"`
	UsedBytes    types.Int64  `tfsdk:"used_bytes"`
	Statement    types.String `tfsdk:"statement"`
	Signature    types.String `tfsdk:"signature"`
	Architecture string       `tfsdk:"architecture"`
	Labels       types.Map    `tfsdk:"labels"`
	Created      string       `tfsdk:"created"`
}

// describe returns what a resource has in its state, except for labels: none is an empty map.
func describe(ctx context.Context, stored api.Image) (registered, diag.Diagnostics) {
	var m model
	diagnostics := m.fill(ctx, stored)
	if m.Labels.IsNull() {
		m.Labels = types.MapValueMust(types.StringType, nil)
	}
	return registered{
		Name: m.Name, URLs: stored.URLs, Digest: stored.Digest, Bytes: stored.Bytes, FileBytes: stored.FileBytes,
		UsedBytes: m.UsedBytes, Statement: m.Statement,
		Signature: m.Signature, Architecture: m.Architecture.ValueString(), Labels: m.Labels,
		Created: stored.Created.UTC().Format(time.RFC3339),
	}, diagnostics
}

// described is the schema of registered, but for the name.
func described() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"urls": schema.ListAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Where machines fetch it, tried in turn."},
		"digest": schema.StringAttribute{Computed: true,
			MarkdownDescription: "`sha256:` and the SHA-256 of its index."},
		"bytes":      schema.Int64Attribute{Computed: true, MarkdownDescription: "Size of the disk, in bytes."},
		"file_bytes": schema.Int64Attribute{Computed: true, MarkdownDescription: "Size of the file, in bytes."},
		"used_bytes": schema.Int64Attribute{Computed: true,
			MarkdownDescription: "How many bytes of the disk hold something; null when that is not known."},
		"signature": schema.StringAttribute{Computed: true,
			MarkdownDescription: "Ed25519 signature of the statement, in base64; null when there is none."},
		"statement": schema.StringAttribute{Computed: true,
			MarkdownDescription: "What the signature is over; null when there is none."},
		"architecture": schema.StringAttribute{Computed: true, MarkdownDescription: "`x86_64` or `arm64`."},
		"labels": schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Its labels."},
		"created": schema.StringAttribute{Computed: true,
			MarkdownDescription: "When it was registered (RFC 3339, UTC)."},
	}
}

// one is data sled_image.
type one struct{ site *site.Site }

// NewDataSource makes data sled_image.
func NewDataSource() datasource.DataSource { return &one{} }

func (o *one) Metadata(_ context.Context, _ datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = "sled_image"
}

func (o *one) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	o.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (o *one) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	attributes := described()
	attributes["name"] = schema.StringAttribute{Required: true, MarkdownDescription: "Name of a registered image.",
		Validators: []validator.String{stringvalidator.RegexMatches(namePattern, "want a-z 0-9 . _ -, at most 128")}}
	response.Schema = schema.Schema{Attributes: attributes,
		MarkdownDescription: "One registered image. An image that is not registered is an error; `sled_images` " +
			"returns an empty list instead."}
}

func (o *one) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var name string
	if response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("name"),
		&name)...); response.Diagnostics.HasError() {
		return
	}
	stored, found, diagnostics := read(ctx, o.site, name)
	if response.Diagnostics.Append(diagnostics...); response.Diagnostics.HasError() {
		return
	}
	if !found {
		response.Diagnostics.AddAttributeError(path.Root("name"), "Image "+name+" is not registered",
			"Register it with sled_image, playbooks/images.yml or sledctl image apply. `sledctl image list` lists "+
				"registered images.")
		return
	}
	image, diagnostics := describe(ctx, stored)
	response.Diagnostics.Append(diagnostics...)
	response.Diagnostics.Append(response.State.Set(ctx, image)...)
}
