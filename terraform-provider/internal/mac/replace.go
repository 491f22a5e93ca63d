// SPDX-License-Identifier: Apache-2.0

package mac

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// RequiresReplace replaces the resource when its MAC changes. Another spelling is no change: the state keeps the old
// one.
func RequiresReplace() planmodifier.String { return requiresReplace{} }

type requiresReplace struct{}

func (requiresReplace) Description(context.Context) string {
	return "Another MAC replaces the resource; another spelling of it changes nothing."
}

func (r requiresReplace) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (requiresReplace) PlanModifyString(_ context.Context, request planmodifier.StringRequest,
	response *planmodifier.StringResponse) {
	if request.State.Raw.IsNull() || request.Plan.Raw.IsNull() {
		return // made or destroyed
	}
	if !request.PlanValue.IsUnknown() && same(request.PlanValue, request.StateValue) {
		response.PlanValue = request.StateValue
		return
	}
	response.RequiresReplace = true
}

func same(a, b basetypes.StringValue) bool { return Value{a}.Address() == Value{b}.Address() }
