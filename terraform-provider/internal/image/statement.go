// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// followSignature plans the statement if it is not set: the registered one belongs to the registered signature alone.
type followSignature struct{}

func (followSignature) Description(context.Context) string { return "Follows the signature." }

func (f followSignature) MarkdownDescription(ctx context.Context) string { return f.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (followSignature) PlanModifyString(ctx context.Context, request planmodifier.StringRequest,
	response *planmodifier.StringResponse) {
	if !request.ConfigValue.IsNull() {
		return
	}
	var configured, stored types.String
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("signature"), &configured)...)
	if !request.State.Raw.IsNull() {
		response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("signature"), &stored)...)
	}
	switch {
	case request.State.Raw.IsNull() && configured.IsNull():
		// Unknown: a registered image may have one.
	case configured.IsNull(), configured.Equal(stored):
		response.PlanValue = request.StateValue
	case !configured.IsUnknown():
		response.PlanValue = types.StringNull()
	}
}
