// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sled-fleet/sled/sledd/api"
)

// Delete deletes the node. A binding that only wipes, and is done, is removed first.
func (n *node) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var m model
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	revision := n.revisionOf(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	stored, found, diagnostics := read(ctx, n.site, m.MAC.Address(), m.String())
	response.Diagnostics.Append(diagnostics...)
	if diagnostics.HasError() || !found || !stored.Declared {
		return
	}
	if stored.Revision != revision {
		response.Diagnostics.AddError(fmt.Sprintf("Changed since the plan was made: could not delete %s", &m),
			fmt.Sprintf("Its declaration has revision %d, the plan was made for %d. Nothing was written. Plan "+
				"again and check the "+
				"new plan.", stored.Revision, revision))
		return
	}
	if response.Diagnostics.Append(n.settle(ctx, &m, stored.Binding,
		stored.Status)...); response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(n.site.Call(ctx, "delete "+m.String(),
		func(ctx context.Context, client *api.Client) error {
			return client.DeleteNode(ctx, stored.MAC, api.IfRevision(revision)) //nolint:wrapcheck // Call explains it
		})...)
}

// settle removes a binding that only wipes once it is satisfied. Any other binding has an owner and stops the deletion.
func (n *node) settle(ctx context.Context, m *model, binding *api.Binding, status api.Status) diag.Diagnostics {
	switch {
	case binding == nil:
		return nil
	case binding.Image != "" || binding.Capture != "" || binding.Owner != "":
		return diag.Diagnostics{bound(m, binding)}
	case !binding.Satisfied:
		return diag.Diagnostics{diag.NewErrorDiagnostic(
			fmt.Sprintf("%s is not wiped yet (generation %d, phase %s)", m.Name.ValueString(), binding.Generation,
				phase(status)),
			fmt.Sprintf("Run playbooks/wipe.yml --limit %s, then destroy again. To cancel the wipe: sledctl "+
				"unbind %[1]s.", m.Name.ValueString()))}
	}
	return n.site.Call(ctx, "remove the finished wipe of "+m.String(),
		func(ctx context.Context, client *api.Client) error {
			//nolint:wrapcheck // Call explains it
			return client.DeleteBinding(ctx, binding.MAC, api.IfRevision(binding.Revision))
		})
}

func bound(m *model, binding *api.Binding) diag.Diagnostic {
	what := "image " + binding.Image
	if binding.Capture != "" {
		what = "its capture as " + binding.Capture
	} else if binding.Image == "" {
		what = "a wipe"
	}
	owner := "nobody"
	if binding.Owner != "" {
		owner = binding.Owner
	}
	return diag.NewErrorDiagnostic(fmt.Sprintf("%s is bound: it cannot be deleted", m),
		fmt.Sprintf("It is bound to %s (generation %d), declared by %s. Destroy that binding first, or remove it "+
			"with: sledctl unbind %s. "+
			"Nothing was changed.",
			what, binding.Generation, owner, m.Name.ValueString()))
}

func phase(status api.Status) string {
	if status.Phase == "" {
		return "not seen yet"
	}
	return string(status.Phase)
}
