// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

// Labels validates labels in the plan, as sledd does.
type Labels struct{}

// Description implements validator.Map.
func (Labels) Description(context.Context) string { return "labels to select by" }

// MarkdownDescription implements validator.Map.
func (l Labels) MarkdownDescription(ctx context.Context) string { return l.Description(ctx) }

// ValidateMap implements validator.Map.
func (Labels) ValidateMap(_ context.Context, request validator.MapRequest, response *validator.MapResponse) {
	labels := map[string]string{}
	for name, element := range request.ConfigValue.Elements() {
		if value, text := element.(types.String); text {
			labels[name] = value.ValueString()
		}
	}
	if name, err := api.CheckLabels(labels); err != nil {
		response.Diagnostics.AddAttributeError(request.Path.AtMapKey(name), "Not a label", err.Error()+".")
	}
}
