// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// follow reads what the import found and nobody declares: another value is no drift.
func (r *record) follow(m *model, stored desired.State) {
	r.Kept.Follow(&m.Shared, stored)
	if r.Kept.Hostname {
		m.Hostname = desired.Optional(stored.Hostname)
	}
}

// hold plans what the import found as it is, where the configuration does not name it.
func (r *record) hold(plan, config, state *model) diag.Diagnostics {
	kept := r.Kept.Unnamed(&config.Shared, config.Hostname)
	kept.Hold(&plan.Shared, &state.Shared)
	if kept.Hostname {
		plan.Hostname = state.Hostname
	}
	all := desired.Dropped(&state.Attributes, &plan.Attributes)
	if !r.Imported || len(all) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(fmt.Sprintf("What was imported of %s is changed: %s", r.Name,
		strings.Join(all, ", ")), "The configuration has other values, or none. To leave them as they are stored, declare "+
		"them. Host name, keys and user data also stay without being declared.")}
}

// lost refuses to bind a node again whose user data only the removed binding had.
func (r *record) lost(config *model) diag.Diagnostics {
	if !r.Absent || !r.Kept.Unnamed(&config.Shared, config.Hostname).UserData {
		return nil
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("The user data of %s is gone", r.Name),
		"It was imported and is in no configuration, and somebody removed the binding. Declare user_data, "+
			"\"\" for none.")}
}

// undeclared are the attributes that a new object would not have, because only the import knew them.
func undeclared(kept desired.Kept) []string {
	var all []string
	for _, one := range []struct {
		name string
		kept bool
	}{{"hostname", kept.Hostname}, {"authorized_keys", kept.AuthorizedKeys}, {"user_data", kept.UserData}} {
		if one.kept {
			all = append(all, one.name)
		}
	}
	return all
}

// plain sets what a configuration does not name, and only an import makes known, to none.
func (m *model) plain(config *model) {
	m.Hostname, m.AuthorizedKeys = config.Hostname, config.AuthorizedKeys
	if config.AuthorizedKeys.IsNull() {
		m.AuthorizedKeys = types.ListNull(types.StringType)
	}
}

// forgets refuses a replacement of a binding of which only an import knows a part.
func (b *binding) forgets(node api.Node) diag.Diagnostics {
	held := b.site.Held(node.MAC)
	if held == nil || len(held.Undeclared) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("A replacement of the binding of %s would lose %s",
		node.Name, strings.Join(held.Undeclared, ", ")), "That was imported and is in no configuration. Declare it, or "+
		"image the machine again by reimage_trigger, which keeps it.")}
}
