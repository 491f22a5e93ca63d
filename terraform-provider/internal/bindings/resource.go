// SPDX-License-Identifier: Apache-2.0

// Package bindings is the resource sled_bindings: the bindings of many machines in flat maps, because a plan's cost
// grows with the number of resources, and more than linearly.
package bindings

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"

	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ resource.ResourceWithConfigure      = (*bindings)(nil)
	_ resource.ResourceWithIdentity       = (*bindings)(nil)
	_ resource.ResourceWithImportState    = (*bindings)(nil)
	_ resource.ResourceWithModifyPlan     = (*bindings)(nil)
	_ resource.ResourceWithValidateConfig = (*bindings)(nil)
)

type bindings struct{ site *site.Site }

// identity tells one sled_bindings from the others of a site.
type identity struct {
	Name string `tfsdk:"name"`
}

// NewResource makes sled_bindings.
func NewResource() resource.Resource { return &bindings{} }

func (b *bindings) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "sled_bindings"
}

func (b *bindings) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest,
	response *resource.IdentitySchemaResponse) {
	response.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name": identityschema.StringAttribute{RequiredForImport: true,
			Description: "Name of the bindings, as declared."},
	}}
}

func (b *bindings) Configure(_ context.Context, request resource.ConfigureRequest,
	response *resource.ConfigureResponse) {
	b.site = site.Of(request.ProviderData, &response.Diagnostics)
}

// ImportState takes a name; Read finds what is bound under it.
func (b *bindings) ImportState(ctx context.Context, request resource.ImportStateRequest,
	response *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("name"), path.Root("name"), request, response)
	response.Diagnostics.Append(response.Private.SetKey(ctx, importedKey, []byte("true"))...)
}

// owner is the name in sledd under which bindings are declared by the resource of a name.
func (b *bindings) owner(name string) string { return b.site.Owner + ":" + name }
