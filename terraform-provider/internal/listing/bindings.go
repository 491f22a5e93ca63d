// SPDX-License-Identifier: Apache-2.0

// Package listing is the data sources sled_bindings, sled_erasures and sled_rollouts: what is stored, whoever declared
// it.
package listing

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*bindings)(nil)

// bindings is data sled_bindings.
type bindings struct{ site *site.Site }

// NewBindingsDataSource makes data sled_bindings.
func NewBindingsDataSource() datasource.DataSource { return &bindings{} }

// found is its state.
type found struct {
	Owner       types.String      `tfsdk:"owner"`
	Image       types.String      `tfsdk:"image"`
	Images      map[string]string `tfsdk:"images"`
	Generations map[string]int64  `tfsdk:"generations"`
	Owners      map[string]string `tfsdk:"owners"`
	Unsatisfied []string          `tfsdk:"unsatisfied"`
}

func (b *bindings) Metadata(_ context.Context, request datasource.MetadataRequest,
	response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_bindings"
}

func (b *bindings) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	b.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (b *bindings) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "The stored bindings, whoever declared them, as flat maps by MAC.",
		Attributes: map[string]schema.Attribute{
			"owner": schema.StringAttribute{Optional: true,
				MarkdownDescription: "Only bindings of this owner, such as `terraform` or `terraform:rack-a`. Default: all."},
			"image": schema.StringAttribute{Optional: true,
				MarkdownDescription: "Only bindings to this image. Default: all."},
			"images": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "MAC to image; empty for a machine that is only wiped or captured."},
			"generations": schema.MapAttribute{Computed: true, ElementType: types.Int64Type,
				MarkdownDescription: "MAC to generation."},
			"owners": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "MAC to owner; empty for none."},
			"unsatisfied": schema.ListAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "MACs of machines that were not observed to have what is bound, sorted."},
		},
	}
}

func (b *bindings) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var f found
	if response.Diagnostics.Append(request.Config.Get(ctx, &f)...); response.Diagnostics.HasError() {
		return
	}
	f.Images, f.Generations, f.Owners = map[string]string{}, map[string]int64{}, map[string]string{}
	f.Unsatisfied = []string{}
	filter := api.Filter{Owner: f.Owner.ValueString(), Image: f.Image.ValueString()}
	response.Diagnostics.Append(b.site.CallBulk(ctx, "list bindings",
		func(ctx context.Context, client *api.Client) error {
			for one, err := range client.Bindings(ctx, filter) {
				if err != nil {
					return err //nolint:wrapcheck // CallBulk explains it
				}
				f.add(one)
			}
			return nil
		})...)
	if !response.Diagnostics.HasError() {
		response.Diagnostics.Append(response.State.Set(ctx, &f)...)
	}
}

func (f *found) add(one api.Binding) {
	f.Images[one.MAC], f.Generations[one.MAC], f.Owners[one.MAC] = one.Image, one.Generation, one.Owner
	if !one.Satisfied {
		f.Unsatisfied = append(f.Unsatisfied, one.MAC)
	}
}
