// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	macs "github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// imagesValidator is macs.Keys, and each machine needs an image.
type imagesValidator struct{ macs.Keys }

func (v imagesValidator) ValidateMap(ctx context.Context, request validator.MapRequest,
	response *validator.MapResponse) {
	v.Keys.ValidateMap(ctx, request, response)
	var bad []string
	for machine, value := range request.ConfigValue.Elements() {
		if image, ok := value.(types.String); ok && !image.IsUnknown() && image.ValueString() == "" {
			bad = append(bad, machine)
		}
	}
	if len(bad) > 0 {
		response.Diagnostics.AddAttributeError(request.Path, "Machines without an image",
			fmt.Sprintf("Want the name of an image for %s. To wipe a machine, use sled_binding without an image, "+
				"or on_destroy = \"wipe\".", textlist.Sentence(bad)))
	}
}

// ValidateConfig finds triggers of machines that images does not have: a mistyped MAC would image nothing.
func (b *bindings) ValidateConfig(ctx context.Context, request resource.ValidateConfigRequest,
	response *resource.ValidateConfigResponse) {
	var images, triggers types.Map
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("images"), &images)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("reimage_triggers"), &triggers)...)
	if response.Diagnostics.HasError() || images.IsUnknown() || triggers.IsUnknown() {
		return
	}
	var bad []string
	elements := images.Elements()
	for mac := range triggers.Elements() {
		if _, found := elements[mac]; !found {
			bad = append(bad, mac)
		}
	}
	if len(bad) > 0 {
		response.Diagnostics.AddAttributeError(path.Root("reimage_triggers"),
			"Triggers of machines that are missing in images",
			fmt.Sprintf("Add them to images, or remove their triggers: %s.", textlist.Sentence(bad)))
	}
}

// sortedKeys of a map.
func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
