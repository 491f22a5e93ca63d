// SPDX-License-Identifier: Apache-2.0

// Package binding is the resource sled_binding: the desired state of one node. It never waits for the machine. A new
// generation wipes a disk, so it is planned only for a reason in the configuration.
package binding

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ resource.ResourceWithConfigure   = (*binding)(nil)
	_ resource.ResourceWithIdentity    = (*binding)(nil)
	_ resource.ResourceWithImportState = (*binding)(nil)
	_ resource.ResourceWithModifyPlan  = (*binding)(nil)
)

type binding struct{ site *site.Site }

// NewResource is sled_binding.
func NewResource() resource.Resource { return &binding{} }

func (b *binding) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_binding"
	response.ResourceBehavior.MutableIdentity = true
}

func (b *binding) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schemaOf()
}

func (b *binding) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest,
	response *resource.IdentitySchemaResponse) {
	response.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"mac": identityschema.StringAttribute{RequiredForImport: true,
			Description: "MAC of the node, lower case with colons"},
	}}
}

func (b *binding) Configure(_ context.Context, request resource.ConfigureRequest,
	response *resource.ConfigureResponse) {
	b.site = site.Of(request.ProviderData, &response.Diagnostics)
}

// look reads a node by MAC or name, with its status and binding; nil when sledd reports that it does not exist.
func (b *binding) look(ctx context.Context, reference string) (*api.Node, diag.Diagnostics) {
	var found *api.Node
	diagnostics := b.site.Call(ctx, "read node "+reference, func(ctx context.Context, client *api.Client) error {
		node, err := client.Node(ctx, reference)
		if api.IsNotFound(err) {
			return nil
		}
		if err == nil && !names(reference, node) {
			return fmt.Errorf("requested node %s, got %q with MAC %q: is this sledd's address?", reference,
				node.Name, node.MAC)
		}
		found = &node
		return err //nolint:wrapcheck // Call explains it
	})
	if diagnostics.HasError() {
		return nil, diagnostics
	}
	return found, nil
}

// names reports whether a reference, a MAC or a name, is of this node.
func names(reference string, node api.Node) bool {
	if mac, err := api.ParseMAC(reference); err == nil {
		return mac == node.MAC
	}
	return reference == node.Name && node.MAC != ""
}

// seed is the user data that an apply sends, by either attribute. It is only in the configuration: it is write-only.
func seed(ctx context.Context, raw tftypes.Value, diagnostics *diag.Diagnostics) (config model, data string) {
	diagnostics.Append(layout.Read(ctx, raw, &config)...)
	return config, cmp.Or(config.UserDataWO.ValueString(), config.UserData.ValueString())
}

// write stores a model as the plan or the state.
func write(ctx context.Context, m *model, raw *tftypes.Value, diagnostics *diag.Diagnostics) {
	value, problems := layout.Write(ctx, m)
	diagnostics.Append(problems...)
	if !problems.HasError() {
		*raw = value
	}
}
