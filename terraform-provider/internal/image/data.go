// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*one)(nil)

// registered is an image as data sources give it.
type registered struct {
	declared.Image
	Created string `tfsdk:"created"`
}

// describe returns what a resource has in its state, except for labels: none is an empty map.
func describe(ctx context.Context, stored api.Image) registered {
	r := registered{Created: stored.Created.UTC().Format(time.RFC3339)}
	declared.Take(ctx, &r.Image, stored.ImageSpec, attribute.Image)
	if r.Labels.IsNull() {
		r.Labels = types.MapValueMust(types.StringType, nil)
	}
	return r
}

// described is the schema of registered.
func described() map[string]schema.Attribute {
	attributes := declared.Known(attribute.Image)
	attributes["labels"] = schema.MapAttribute{Computed: true, ElementType: types.StringType,
		MarkdownDescription: "Its labels; empty when it has none."}
	attributes["created"] = schema.StringAttribute{Computed: true,
		MarkdownDescription: "When it was registered (RFC 3339, UTC)."}
	return attributes
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
	name, _ := attributes["name"].(schema.StringAttribute)
	name.Required, name.Computed = true, false
	attributes["name"] = name
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
	response.Diagnostics.Append(response.State.Set(ctx, describe(ctx, stored))...)
}
