// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*several)(nil)

// several is data sled_images.
type several struct{ site *site.Site }

// selection is its state.
type selection struct {
	Labels     map[string]string `tfsdk:"labels"`
	NamePrefix types.String      `tfsdk:"name_prefix"`
	Images     []registered      `tfsdk:"images"`
	Names      []string          `tfsdk:"names"`
}

// NewImagesDataSource makes data sled_images.
func NewImagesDataSource() datasource.DataSource { return &several{} }

func (s *several) Metadata(_ context.Context, _ datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = "sled_images"
}

func (s *several) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	s.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (s *several) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "The registered images, by name; none is an empty list.",
		Attributes: map[string]schema.Attribute{
			"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Only images that have all of these labels. Default: all."},
			"name_prefix": schema.StringAttribute{Optional: true,
				MarkdownDescription: "Only images whose name starts with this. Default: all."},
			"names": schema.ListAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Their names, sorted."},
			"images": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The images, sorted by name.",
				NestedObject: schema.NestedAttributeObject{Attributes: described()}},
		},
	}
}

func (s *several) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var wanted selection
	if response.Diagnostics.Append(request.Config.Get(ctx, &wanted)...); response.Diagnostics.HasError() {
		return
	}
	var all []api.Image
	response.Diagnostics.Append(s.site.Call(ctx, "list images", func(ctx context.Context, client *api.Client) error {
		var err error
		all, err = client.Images(ctx)
		return err //nolint:wrapcheck // Call explains it
	})...)
	wanted.Images, wanted.Names = []registered{}, []string{}
	for _, stored := range all {
		if wanted.has(stored) {
			wanted.Images = append(wanted.Images, describe(ctx, stored))
			wanted.Names = append(wanted.Names, stored.Name)
		}
	}
	if !response.Diagnostics.HasError() {
		response.Diagnostics.Append(response.State.Set(ctx, wanted)...)
	}
}

func (s selection) has(image api.Image) bool {
	for name, value := range s.Labels {
		if got, found := image.Labels[name]; !found || got != value {
			return false
		}
	}
	return strings.HasPrefix(image.Name, s.NamePrefix.ValueString())
}
