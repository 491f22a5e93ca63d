// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// model is the resource as Terraform has it.
type model struct {
	desired.Shared

	Name            types.String `tfsdk:"name"`
	Images          types.Map    `tfsdk:"images"`
	ReimageTriggers types.Map    `tfsdk:"reimage_triggers"`
	OnDrift         types.String `tfsdk:"on_drift"`
	OnDestroy       types.String `tfsdk:"on_destroy"`
	AdmitWithin     types.String `tfsdk:"admit_within"`
	MaxReimages     types.Int64  `tfsdk:"max_reimages"`
	Generations     types.Map    `tfsdk:"generations"`
	Drifted         types.Map    `tfsdk:"drifted"`
	Wipes           types.Map    `tfsdk:"wipes"`
}

// empty is a model with only a name, as in an import.
func empty(name types.String) model {
	return model{Name: name, Images: types.MapNull(types.StringType), ReimageTriggers: types.MapNull(types.StringType),
		Shared:  desired.Shared{AuthorizedKeys: types.ListNull(types.StringType)},
		OnDrift: types.StringValue("warn"), OnDestroy: types.StringValue("keep"),
		Generations: types.MapNull(types.Int64Type), Drifted: types.MapNull(types.StringType),
		Wipes: types.MapNull(types.StringType)}
}

// known is true when everything that decides about generations is known, single images apart.
func (m model) known() bool {
	return m.DiskKnown() && m.MethodKnown() && !m.Images.IsUnknown() &&
		desired.Known(m.ReimageTriggers, m.OnDrift, m.OnDestroy)
}

// strings of a map; an unknown one is missing.
func stringMap(m types.Map) map[string]string {
	elements := m.Elements()
	all := make(map[string]string, len(elements))
	for key, value := range elements {
		if text, ok := value.(types.String); ok && !text.IsUnknown() {
			all[key] = text.ValueString()
		}
	}
	return all
}

// numberMap is the numbers of a map; an unknown one is missing.
func numberMap(m types.Map) map[string]int64 {
	elements := m.Elements()
	all := make(map[string]int64, len(elements))
	for key, value := range elements {
		if number, ok := value.(types.Int64); ok && !number.IsUnknown() {
			all[key] = number.ValueInt64()
		}
	}
	return all
}

// ofStrings is the opposite of stringMap.
func ofStrings(all map[string]string) types.Map {
	elements := make(map[string]attr.Value, len(all))
	for key, text := range all {
		elements[key] = types.StringValue(text)
	}
	return types.MapValueMust(types.StringType, elements)
}

// ofNumbers is the opposite of numberMap; unknown are the ones that are not known yet.
func ofNumbers(all map[string]int64, unknown ...string) types.Map {
	elements := make(map[string]attr.Value, len(all))
	for key, number := range all {
		elements[key] = types.Int64Value(number)
	}
	for _, key := range unknown {
		elements[key] = types.Int64Unknown()
	}
	return types.MapValueMust(types.Int64Type, elements)
}
