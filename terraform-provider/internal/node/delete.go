// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sled-fleet/sled/sledd/api"
)

// Delete forgets the node. A wipe that somebody wished for when the node was given up is taken back with it, once it is done.
func (n *node) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var m model
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	revision := revisionOf(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	stored, found, diagnostics := read(ctx, n.site, m.MAC.Address(), m.String())
	response.Diagnostics.Append(diagnostics...)
	if diagnostics.HasError() || !found || !stored.Declared {
		return
	}
	if stored.Revision != revision {
		response.Diagnostics.AddError(fmt.Sprintf("Changed since the plan was made: could not forget %s", &m),
			fmt.Sprintf("Its declaration has revision %d, the plan knew %d. Nothing was written. Plan again and look at what it says now.", stored.Revision, revision))
		return
	}
	if response.Diagnostics.Append(n.settle(ctx, &m, stored.Binding, stored.Status)...); response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(n.site.Call(ctx, "forget "+m.String(), func(ctx context.Context, client *api.Client) error {
		return client.DeleteNode(ctx, stored.MAC, api.IfRevision(revision)) //nolint:wrapcheck // Call explains it
	})...)
}

// settle makes way for the deletion: a wish for nothing but a wipe is taken back when it is fulfilled. Any other binding is somebody's.
func (n *node) settle(ctx context.Context, m *model, binding *api.Binding, status api.Status) diag.Diagnostics {
	switch {
	case binding == nil:
		return nil
	case binding.Image != "" || binding.Capture != "" || binding.Owner != "":
		return diag.Diagnostics{bound(m, binding)}
	case !binding.Satisfied:
		return diag.Diagnostics{diag.NewErrorDiagnostic(
			fmt.Sprintf("%s is still to be wiped (generation %d, phase %s)", m.Name.ValueString(), binding.Generation, phase(status)),
			fmt.Sprintf("Run playbooks/wipe.yml --limit %s, then destroy again. To give the wipe up: sledctl unbind %[1]s.", m.Name.ValueString()))}
	}
	return n.site.Call(ctx, "take the finished wipe of "+m.String()+" back", func(ctx context.Context, client *api.Client) error {
		return client.DeleteBinding(ctx, binding.MAC, api.IfRevision(binding.Revision)) //nolint:wrapcheck // Call explains it
	})
}

func bound(m *model, binding *api.Binding) diag.Diagnostic {
	wish := "image " + binding.Image
	if binding.Capture != "" {
		wish = "its capture as " + binding.Capture
	} else if binding.Image == "" {
		wish = "a wipe"
	}
	owner := "nobody in particular"
	if binding.Owner != "" {
		owner = binding.Owner
	}
	return diag.NewErrorDiagnostic(fmt.Sprintf("%s is bound: it cannot be forgotten", m),
		fmt.Sprintf("It is bound to %s (generation %d), declared by %s. Destroy that binding first, or take it back with: sledctl unbind %s. Nothing was changed.",
			wish, binding.Generation, owner, m.Name.ValueString()))
}

func phase(status api.Status) string {
	if status.Phase == "" {
		return "not seen yet"
	}
	return string(status.Phase)
}
