// SPDX-License-Identifier: Apache-2.0

// Package provider is the Terraform provider: its configuration, and the list of what it offers.
package provider

import (
	"context"

	frameworkaction "github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sled-fleet/sled/terraform-provider/internal/action"
	"github.com/sled-fleet/sled/terraform-provider/internal/binding"
	"github.com/sled-fleet/sled/terraform-provider/internal/bindings"
	"github.com/sled-fleet/sled/terraform-provider/internal/image"
	"github.com/sled-fleet/sled/terraform-provider/internal/listing"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/node"
	"github.com/sled-fleet/sled/terraform-provider/internal/ready"
)

var (
	_ framework.ProviderWithActions       = (*provider)(nil)
	_ framework.ProviderWithFunctions     = (*provider)(nil)
	_ framework.ProviderWithListResources = (*provider)(nil)
)

type provider struct{ version string }

// New returns a factory of providers of this version.
func New(version string) func() framework.Provider {
	return func() framework.Provider { return &provider{version} }
}

func (p *provider) Metadata(_ context.Context, _ framework.MetadataRequest, response *framework.MetadataResponse) {
	response.TypeName, response.Version = "sled", p.version
}

func (p *provider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{node.NewResource, node.NewManyResource, image.NewResource, binding.NewResource,
		bindings.NewResource, ready.NewResource}
}

func (p *provider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{node.NewDataSource, node.NewNodesDataSource, image.NewDataSource,
		image.NewImagesDataSource, listing.NewBindingsDataSource, listing.NewErasuresDataSource,
		listing.NewRolloutsDataSource}
}

func (p *provider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{mac.NewFunction}
}

func (p *provider) Actions(context.Context) []func() frameworkaction.Action {
	return []func() frameworkaction.Action{action.NewReimage, action.NewRescue, action.NewRun, action.NewWipe}
}

func (p *provider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{node.NewListResource, binding.NewListResource}
}
