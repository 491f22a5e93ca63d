// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// manyModel is sled_nodes.
type manyModel struct {
	declared.Node
	Names        types.Map    `tfsdk:"names"`
	Disks        types.Map    `tfsdk:"disks"`
	BMCAddresses types.Map    `tfsdk:"bmc_addresses"`
	BMCDriver    types.String `tfsdk:"bmc_driver"`
	Labels       types.Map    `tfsdk:"labels"`
	Drifted      types.Map    `tfsdk:"drifted"`
}

// known is true when no declaration depends on what the apply finds.
func (m *manyModel) known() bool {
	values := slices.Collect(maps.Values(declared.Values(&m.Node)))
	for _, value := range append(values, m.Names, m.Disks, m.BMCAddresses, m.Labels, m.BMCDriver) {
		if unknown(value) {
			return false
		}
	}
	return true
}

func unknown(value attr.Value) bool {
	var inner []attr.Value
	switch value := value.(type) {
	case types.Map:
		inner = slices.Collect(maps.Values(value.Elements()))
	case types.List:
		inner = value.Elements()
	case types.Object:
		inner = slices.Collect(maps.Values(value.Attributes()))
	}
	return value.IsUnknown() || slices.ContainsFunc(inner, unknown)
}

// specs are the declarations, by MAC.
func (m *manyModel) specs() map[string]api.NodeSpec {
	all, disks, addresses := map[string]api.NodeSpec{}, stringsOf(m.Disks), stringsOf(m.BMCAddresses)
	common := api.NodeSpec{Labels: stringsOf(m.Labels)}
	declared.Fill(&common, &m.Node)
	for address, name := range stringsOf(m.Names) {
		spec := common
		spec.MAC, spec.Name = address, name
		if own, found := disks[address]; found {
			spec.Disk = own
		}
		if driver := m.BMCDriver.ValueString(); driver != "" {
			spec.BMC = &api.BMC{Driver: driver, Address: addresses[address]}
		}
		all[address] = spec
	}
	return all
}

// with is the model with other machines, for a state after an apply that ended early.
func (m manyModel) with(names map[string]string) manyModel {
	m.Names = mapFrom(names)
	return m
}

func stringsOf(m types.Map) map[string]string {
	if len(m.Elements()) == 0 {
		return nil
	}
	all := make(map[string]string, len(m.Elements()))
	for key, value := range m.Elements() {
		if text, ok := value.(types.String); ok {
			all[key] = text.ValueString()
		}
	}
	return all
}

func mapFrom(all map[string]string) types.Map {
	elements := make(map[string]attr.Value, len(all))
	for key, text := range all {
		elements[key] = types.StringValue(text)
	}
	return types.MapValueMust(types.StringType, elements)
}

// differences names the attributes in which a stored declaration is not the declared one. Further MACs are not declared
// here and stay as they are.
func differences(planned, stored api.NodeSpec) []string {
	var names []string
	a, b := reflect.ValueOf(planned), reflect.ValueOf(stored)
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		same := reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface())
		switch kind := a.Field(i).Kind(); {
		case name == "mac" || name == "macs":
			same = true
		case kind == reflect.Slice || kind == reflect.Map: // nil and empty are the same
			same = same || a.Field(i).Len() == 0 && b.Field(i).Len() == 0
		}
		if !same {
			names = append(names, name)
		}
	}
	return names
}

// declaredKey of the private state: what sledd had for each machine at the last refresh.
const declaredKey = "declared"

// declaration is what an update needs of a stored declaration.
type declaration struct {
	Revision int64    `json:"r"`
	MACs     []string `json:"m,omitempty"` // further ones
}

func (n *nodes) declarations(ctx context.Context, private site.Kept,
	diagnostics *diag.Diagnostics) map[string]declaration {
	diagnostics.Append(n.site.SameFleet(ctx, private)...)
	all := map[string]declaration{}
	text, found := private.GetKey(ctx, declaredKey)
	diagnostics.Append(found...)
	if len(text) > 0 {
		if err := json.Unmarshal(text, &all); err != nil {
			diagnostics.AddError("The state cannot be read", "Its record of the nodes is damaged: "+err.Error())
		}
	}
	return all
}

func (n *nodes) keepAll(ctx context.Context, private site.Keeper, all map[string]declaration) diag.Diagnostics {
	text, err := json.Marshal(all)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The state cannot be written", err.Error())}
	}
	diagnostics := private.SetKey(ctx, declaredKey, text)
	diagnostics.Append(n.site.KeepFleet(ctx, private)...)
	return diagnostics
}
