// SPDX-License-Identifier: Apache-2.0

package mac

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// KeepSpelling keeps the spelling of the state where the configuration has another one of the same MAC.
func KeepSpelling() planmodifier.String { return keepSpelling{} }

type keepSpelling struct{}

func (keepSpelling) Description(context.Context) string {
	return "Another spelling of a MAC changes nothing."
}

func (k keepSpelling) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (keepSpelling) PlanModifyString(_ context.Context, request planmodifier.StringRequest,
	response *planmodifier.StringResponse) {
	if request.State.Raw.IsNull() || request.Plan.Raw.IsNull() {
		return // made or destroyed
	}
	if !request.PlanValue.IsUnknown() && same(request.PlanValue, request.StateValue) {
		response.PlanValue = request.StateValue
	}
}

func same(a, b basetypes.StringValue) bool { return Value{a}.Address() == Value{b}.Address() }
