// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
)

// model is sled_node in a configuration, a plan and a state.
type model struct {
	declared.Node
	MAC    mac.Value         `tfsdk:"mac"`
	MACs   []string          `tfsdk:"macs"`
	Name   types.String      `tfsdk:"name"`
	Labels map[string]string `tfsdk:"labels"`
	BMC    *bmcModel         `tfsdk:"bmc"`
}

type bmcModel struct {
	Driver  types.String `tfsdk:"driver"`
	Address types.String `tfsdk:"address"`
	Port    types.Int64  `tfsdk:"port"`
}

// String names the node in an error.
func (m *model) String() string { return title(m.Name.ValueString(), m.MAC.Address()) }

func title(name, address string) string {
	if name == "" {
		return "node " + address
	}
	return fmt.Sprintf("node %s (%s)", name, address)
}

// spec is the declaration that sledd gets.
func (m *model) spec() api.NodeSpec {
	spec := api.NodeSpec{
		MAC: m.MAC.Address(), MACs: m.MACs, Name: m.Name.ValueString(), Labels: m.Labels,
	}
	declared.Fill(&spec, &m.Node)
	if m.BMC != nil {
		spec.BMC = &api.BMC{Driver: m.BMC.Driver.ValueString(), Address: m.BMC.Address.ValueString(),
			Port: m.BMC.Port.ValueInt64()}
	}
	return spec
}

// fill copies what sledd has. sledd has no empty labels and lists, so those in the configuration stay.
func (m *model) fill(ctx context.Context, spec api.NodeSpec) {
	m.MAC, m.Name = mac.Of(spec.MAC), text(spec.Name)
	declared.Take(ctx, &m.Node, spec, attribute.Node)
	if len(spec.MACs) > 0 || len(m.MACs) > 0 {
		m.MACs = spec.MACs
	}
	if len(spec.Labels) > 0 || len(m.Labels) > 0 {
		m.Labels = spec.Labels
	}
	m.BMC = bmcOf(spec.BMC)
}

func bmcOf(bmc *api.BMC) *bmcModel {
	if bmc == nil {
		return nil
	}
	return &bmcModel{Driver: types.StringValue(bmc.Driver), Address: text(bmc.Address), Port: number(bmc.Port)}
}

// text is null for what sledd leaves out.
func text(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

func number(n int64) types.Int64 {
	if n == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(n)
}
