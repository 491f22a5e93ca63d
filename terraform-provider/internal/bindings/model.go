// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/wish"
)

// model is the resource as Terraform has it.
type model struct {
	Name            types.String `tfsdk:"name"`
	Images          types.Map    `tfsdk:"images"`
	ReimageTriggers types.Map    `tfsdk:"reimage_triggers"`
	Disk            types.String `tfsdk:"disk"`
	Wipe            types.String `tfsdk:"wipe"`
	Mode            types.String `tfsdk:"mode"`
	Verify          types.String `tfsdk:"verify"`
	AllowUnsigned   types.Bool   `tfsdk:"allow_unsigned"`
	Boot            types.String `tfsdk:"boot"`
	AuthorizedKeys  types.List   `tfsdk:"authorized_keys"`
	UserData        types.String `tfsdk:"user_data"`
	UserDataSHA256  types.String `tfsdk:"user_data_sha256"`
	KernelArguments types.String `tfsdk:"kernel_arguments"`
	OnDrift         types.String `tfsdk:"on_drift"`
	OnDestroy       types.String `tfsdk:"on_destroy"`
	MaxReimages     types.Int64  `tfsdk:"max_reimages"`
	Generations     types.Map    `tfsdk:"generations"`
	Drifted         types.Map    `tfsdk:"drifted"`
}

// empty is a model of which only the name is known, as in an import.
func empty(name types.String) model {
	return model{Name: name, Images: types.MapNull(types.StringType), ReimageTriggers: types.MapNull(types.StringType),
		AuthorizedKeys: types.ListNull(types.StringType), OnDrift: types.StringValue("warn"), OnDestroy: types.StringValue("keep"),
		Generations: types.MapNull(types.Int64Type), Drifted: types.MapNull(types.StringType)}
}

// known says whether everything that decides about generations is known, single images apart.
func (m model) known() bool {
	for _, value := range []attr.Value{m.Disk, m.Wipe, m.Mode, m.Verify, m.AllowUnsigned, m.Boot, m.AuthorizedKeys, m.UserDataSHA256,
		m.KernelArguments, m.Images, m.ReimageTriggers, m.OnDrift, m.OnDestroy} {
		if value.IsUnknown() {
			return false
		}
	}
	for _, value := range m.ReimageTriggers.Elements() {
		if value.IsUnknown() {
			return false
		}
	}
	for _, value := range m.AuthorizedKeys.Elements() {
		if value.IsUnknown() {
			return false
		}
	}
	return true
}

// uniform is the wish that all machines have in common.
func (m model) uniform() wish.Wish {
	return wish.Wish{UserDataSHA256: m.UserDataSHA256.ValueString(), BindingSpec: api.BindingSpec{
		Disk: m.Disk.ValueString(), Wipe: m.Wipe.ValueString(), Mode: m.Mode.ValueString(), Verify: m.Verify.ValueString(),
		AllowUnsigned: m.AllowUnsigned.ValueBool(), Boot: m.Boot.ValueString(), AuthorizedKeys: texts(m.AuthorizedKeys),
		KernelArguments: m.KernelArguments.ValueString()}}
}

// setUniform is for an import: absent is null.
func (m *model) setUniform(w wish.Wish) {
	m.Disk, m.Wipe, m.Mode, m.Verify, m.Boot = orNull(w.Disk), orNull(w.Wipe), orNull(w.Mode), orNull(w.Verify), orNull(w.Boot)
	m.AllowUnsigned = types.BoolNull()
	if w.AllowUnsigned {
		m.AllowUnsigned = types.BoolValue(true)
	}
	m.KernelArguments, m.UserDataSHA256 = orNull(w.KernelArguments), orNull(w.UserDataSHA256)
	m.AuthorizedKeys = types.ListNull(types.StringType)
	if len(w.AuthorizedKeys) > 0 {
		keys := make([]attr.Value, len(w.AuthorizedKeys))
		for i, key := range w.AuthorizedKeys {
			keys[i] = types.StringValue(key)
		}
		m.AuthorizedKeys = types.ListValueMust(types.StringType, keys)
	}
}

func orNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// sum is the SHA-256 of user data: null for none, unknown for unknown.
func sum(userData types.String) types.String {
	if userData.IsNull() || userData.IsUnknown() {
		return userData
	}
	return orNull(wish.Sum(userData.ValueString()))
}

// texts of a list; none is nil, as in sledd's answers.
func texts(list types.List) []string {
	var all []string
	for _, value := range list.Elements() {
		all = append(all, value.(types.String).ValueString()) //nolint:forcetypeassert // by the schema
	}
	return all
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
