// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// seed plans what the configuration declares of it, and what an import found as it is.
func (b *bindings) seed(ctx context.Context, m, state *model, request resource.ModifyPlanRequest,
	diagnostics *diag.Diagnostics) desired.Kept {
	var config model
	diagnostics.Append(request.Config.Get(ctx, &config)...)
	sum, found := desired.SumOf(config.UserData, b.site.Key)
	diagnostics.Append(found...)
	m.UserDataSHA256, m.UserData, m.AuthorizedKeys = sum, types.StringNull(), config.AuthorizedKeys
	kept := getKept(ctx, request.Private, diagnostics).Unnamed(&config.Shared, types.StringNull())
	if !request.State.Raw.IsNull() {
		kept.Hold(&m.Shared, &state.Shared)
	}
	return kept
}

// dropped warns of what the first change after an import takes away or replaces.
func (c *comparison) dropped(state, plan *model) diag.Diagnostics {
	all := desired.Dropped(&desired.Attributes{Shared: state.Shared}, &desired.Attributes{Shared: plan.Shared})
	if !c.imported || len(all) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(fmt.Sprintf("What was imported of %s is changed: %s",
		plan.Name.ValueString(), strings.Join(all, ", ")), "The configuration has other values, or none. To leave them as "+
		"they are stored, declare them. Host names, keys and user data also stay without being declared.")}
}

// lost refuses to bind machines that would not get the user data of the others, because only an import knew it.
func (p *outlook) lost() diag.Diagnostics {
	var without []string
	for mac := range p.planned.images {
		_, there := p.prior.images[mac]
		if p.kept.UserData && (!there || p.stored[mac].Absent && p.steps[mac].raises) {
			without = append(without, p.name(mac))
		}
	}
	if len(without) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("user_data"),
		"Machines would not get the user data of the others", textlist.Sentence(without)+".\n\nIt was imported and is in no "+
			"configuration: sledd keeps it for the machines that have it. Declare user_data, \"\" for none.")}
}
