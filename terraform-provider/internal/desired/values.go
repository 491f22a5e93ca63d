// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

// SameMethod is true when both sets of attributes are known and raise no generation by a method that differs.
func (s *Shared) SameMethod(other *Shared) bool {
	return s.MethodKnown() && s.State().SameMethod(other.State())
}

// DiskKnown is true when everything that decides about the disk is known: a seed that is for the next image does not.
func (s *Shared) DiskKnown() bool {
	if s.SeedChanges.IsUnknown() || s.SeedChanges.ValueString() == "reimage" {
		return s.DesiredKnown()
	}
	return Known(s.Disk, s.Partition, s.Configure, s.Grow, s.Kernel)
}

// Optional is null for an empty text.
func Optional(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// SumOf is the hash of user data with the key of the fleet: null for none, unknown for unknown. sledd has the key for
// role operate only.
func SumOf(userData types.String, key string) (sum types.String, diagnostics diag.Diagnostics) {
	if userData.IsUnknown() {
		return types.StringUnknown(), nil
	}
	if key == "" && userData.ValueString() != "" {
		diagnostics.AddAttributeError(path.Root("user_data"), "The role of the token is too low to compare user_data",
			"Whoever can compare it can guess a secret in it, so that a plan with user_data needs a token of role operate. "+
				"Plans need only role read with user_data_wo and user_data_wo_version, of which the version is compared.")
	}
	return Optional(api.UserDataHash(key, userData.ValueString())), diagnostics
}

// Version stands for the user data where only its version decides about it; empty where its SHA-256 does.
func (s *Shared) Version() string {
	if s.UserDataWOVersion.IsNull() || s.UserDataWOVersion.IsUnknown() {
		return ""
	}
	return versionPrefix + strconv.FormatInt(s.UserDataWOVersion.ValueInt64(), 10)
}

// Known is true when no value is unknown, elements of lists and maps included.
func Known(values ...attr.Value) bool {
	for _, value := range values {
		if value.IsUnknown() {
			return false
		}
		var inner []attr.Value
		switch value := value.(type) {
		case types.List:
			inner = value.Elements()
		case types.Map:
			for _, element := range value.Elements() {
				inner = append(inner, element)
			}
		}
		if !Known(inner...) {
			return false
		}
	}
	return true
}

// take stores a text; an attribute that stands for the same stays as it was written.
func take(value *types.String, text string) {
	if value.ValueString() != text {
		*value = Optional(text)
	}
}

// takeList leaves a list that stands for the same as it was written, such as an empty one, or the end of a line.
func takeList(value *types.List, list []string) {
	if !slices.Equal(texts(*value), list) || value.IsUnknown() {
		*value = listOf(list)
	}
}

func takeBool(value *types.Bool, flag bool) {
	switch {
	case value.ValueBool() == flag:
	case flag:
		*value = types.BoolValue(true)
	default:
		*value = types.BoolNull()
	}
}

// texts of a list, as sledd stores them; none is nil, as in its answers.
func texts(list types.List) []string {
	var all []string
	for _, element := range list.Elements() {
		if text, ok := element.(types.String); ok {
			all = append(all, strings.TrimSpace(text.ValueString()))
		}
	}
	return all
}

func listOf(texts []string) types.List {
	if len(texts) == 0 {
		return types.ListNull(types.StringType)
	}
	elements := make([]attr.Value, len(texts))
	for i, text := range texts {
		elements[i] = types.StringValue(text)
	}
	return types.ListValueMust(types.StringType, elements)
}
