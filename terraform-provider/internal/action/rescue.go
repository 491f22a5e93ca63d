// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/actionvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

var (
	_ action.ActionWithConfigure        = (*rescue)(nil)
	_ action.ActionWithConfigValidators = (*rescue)(nil)
)

// mostKeys is how many keys sledd takes.
const mostKeys = 32

type rescue struct{ machines }

// NewRescue makes the action sled_rescue.
func NewRescue() action.Action { return &rescue{} }

func (r *rescue) Metadata(_ context.Context, request action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_rescue"
}

func (r *rescue) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	all := attributes()
	all["authorized_keys"] = schema.ListAttribute{Optional: true, ElementType: types.StringType,
		Validators: []validator.List{listvalidator.SizeBetween(1, mostKeys), listvalidator.NoNullValues(), desired.Keys{}},
		MarkdownDescription: "SSH public keys for root in the Sled system, at most 32. Again with other keys replaces " +
			"them. This or `end`."}
	all["end"] = schema.BoolAttribute{Optional: true,
		MarkdownDescription: "`true` ends the rescue: what it interrupted continues. This or `authorized_keys`."}
	response.Schema = schema.Schema{Attributes: all,
		MarkdownDescription: "Puts machines under rescue, as `sledctl rescue` does: at the next boot they stay in the Sled " +
			"system, with SSH. No disk is touched, and their bindings wait until the rescue ends. Needs Terraform 1.14."}
}

func (r *rescue) ConfigValidators(ctx context.Context) []action.ConfigValidator {
	return append(r.machines.ConfigValidators(ctx),
		actionvalidator.ExactlyOneOf(path.MatchRoot("authorized_keys"), path.MatchRoot("end")))
}

func (r *rescue) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	var keys []string
	var end types.Bool
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("authorized_keys"), &keys)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("end"), &end)...)
	if response.Diagnostics.HasError() || len(keys) == 0 && !end.ValueBool() {
		return
	}
	r.each(ctx, request.Config, response, func(name string, node api.Node) (string, diag.Diagnostics) {
		if node.MAC == "" {
			return "", unable(name, "put under rescue", "sledd does not know it.")
		}
		if len(keys) == 0 {
			return name + ": the rescue ends", r.site.Call(ctx, "end the rescue of node "+name,
				func(ctx context.Context, client *api.Client) error {
					return client.DeleteRescue(ctx, node.MAC) //nolint:wrapcheck // Call explains it
				})
		}
		return name + ": rescue at its next boot", r.site.Call(ctx, "put node "+name+" under rescue",
			func(ctx context.Context, client *api.Client) error {
				_, err := client.PutRescue(ctx, node.MAC, api.RescueSpec{AuthorizedKeys: keys})
				return err //nolint:wrapcheck // Call explains it
			})
	})
}
