// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Kept are the parts of the seed that an import found. They stay as they are stored for as long as the configuration
// does not name them.
type Kept struct {
	Hostname       bool `json:"hostname,omitempty"`
	AuthorizedKeys bool `json:"authorized_keys,omitempty"`
	UserData       bool `json:"user_data,omitempty"`
}

// Found is what an import of a desired state keeps.
func Found(stored State) Kept {
	return Kept{Hostname: stored.Hostname != "", AuthorizedKeys: len(stored.AuthorizedKeys) > 0,
		UserData: stored.UserDataSHA256 != ""}
}

// Unnamed is what of it the configuration does not name.
func (k Kept) Unnamed(config *Shared, hostname types.String) Kept {
	return Kept{Hostname: k.Hostname && hostname.IsNull(),
		AuthorizedKeys: k.AuthorizedKeys && config.AuthorizedKeys.IsNull(),
		UserData:       k.UserData && config.UserData.IsNull() && config.UserDataWOVersion.IsNull()}
}

// Hold copies what is kept from the state.
func (k Kept) Hold(plan, state *Shared) {
	if k.AuthorizedKeys {
		plan.AuthorizedKeys = state.AuthorizedKeys
	}
	if k.UserData {
		plan.UserDataSHA256 = state.UserDataSHA256
	}
}

// Follow reads what is kept from what is stored.
func (k Kept) Follow(m *Shared, stored State) {
	if k.AuthorizedKeys {
		takeList(&m.AuthorizedKeys, stored.AuthorizedKeys)
	}
	if k.UserData {
		take(&m.UserDataSHA256, stored.UserDataSHA256)
	}
}

// Dropped lists what the first change after an import takes away or replaces, with the values of before.
func Dropped(state, plan *Attributes) []string {
	var all []string
	drop := func(name string, was, is attr.Value, shown string) {
		if !was.IsNull() && !was.Equal(is) {
			all = append(all, fmt.Sprintf("%s (%s)", name, shown))
		}
	}
	if keys := texts(state.AuthorizedKeys); !slices.Equal(keys, texts(plan.AuthorizedKeys)) {
		drop("authorized_keys", state.AuthorizedKeys, plan.AuthorizedKeys, fmt.Sprint(len(keys)))
	}
	drop("hostname", state.Hostname, plan.Hostname, state.Hostname.ValueString())
	if plan.Version() == "" { // an import takes a version for what is stored
		drop("user_data", state.UserDataSHA256, plan.UserDataSHA256, "of which only a hash is known")
	}
	for _, one := range []struct {
		name    string
		was, is attr.Value
	}{
		{"wipe", state.Wipe, plan.Wipe}, {"wipe_method", state.WipeMethod, plan.WipeMethod}, {"mode", state.Mode, plan.Mode},
		{"verify", state.Verify, plan.Verify}, {"transport", state.Transport, plan.Transport},
		{"allow_unsigned", state.AllowUnsigned, plan.AllowUnsigned}, {"boot", state.Boot, plan.Boot},
		{"admission", state.Admission, plan.Admission}, {"handover", state.Handover, plan.Handover},
		{"seed_changes", state.SeedChanges, plan.SeedChanges},
		{"kernel_arguments", state.KernelArguments, plan.KernelArguments},
	} {
		drop(one.name, one.was, one.is, one.was.String())
	}
	return all
}
