// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// nodePattern is what sledd accepts as a node in a path.
var nodePattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z:-]{0,63}$`)

type model struct {
	Nodes    types.Map      `tfsdk:"nodes"`
	Require  types.String   `tfsdk:"require"`
	FailFast types.Bool     `tfsdk:"fail_fast"`
	Timeouts timeouts.Value `tfsdk:"timeouts"`
	Ready    types.Map      `tfsdk:"ready"`
	Failed   types.Map      `tfsdk:"failed"`
	Pending  types.Map      `tfsdk:"pending"`
}

// validate checks what is known of a configuration.
func (m model) validate() diag.Diagnostics {
	if m.Require.IsNull() || m.Require.IsUnknown() {
		return nil
	}
	required, err := parseRequirement(m.Require.ValueString())
	if err == nil && !m.Nodes.IsUnknown() {
		_, err = required.of(len(m.Nodes.Elements()))
	}
	if err != nil {
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("require"), "Invalid value of require",
			err.Error())}
	}
	return nil
}

// goal is what a plan without unknown values waits for.
func (m model) goal(ctx context.Context) (goal, diag.Diagnostics) {
	diagnostics := m.validate()
	if diagnostics.HasError() {
		return goal{}, diagnostics
	}
	w := goal{failFast: m.FailFast.ValueBool()}
	diagnostics.Append(m.Nodes.ElementsAs(ctx, &w.nodes, false)...)
	if required, err := parseRequirement(m.Require.ValueString()); err == nil { // as validated
		w.need, _ = required.of(len(w.nodes))
	}
	return w, diagnostics
}

// set stores the tally.
func (m *model) set(ctx context.Context, t tally) diag.Diagnostics {
	ready, all := types.MapValueFrom(ctx, types.Int64Type, t.ready)
	failed, more := types.MapValueFrom(ctx, types.StringType, t.failed)
	all.Append(more...)
	pending, more := types.MapValueFrom(ctx, types.StringType, t.pending)
	all.Append(more...)
	m.Ready, m.Failed, m.Pending = ready, failed, pending
	return all
}
