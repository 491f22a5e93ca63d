// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// planDestroy reads the binding again: some CLIs plan a destroy with the state from before the refresh.
func (b *binding) planDestroy(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	var state model
	response.Diagnostics.Append(layout.Read(ctx, request.State.Raw, &state)...)
	was := b.known(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(b.site.Know(state.MAC.ValueString(), was.Name)...)
	node, diagnostics := b.look(ctx, state.MAC.ValueString())
	response.Diagnostics.Append(diagnostics...)
	if diagnostics.HasError() {
		return
	}
	switch {
	case node == nil || node.Binding == nil || was.Replaced:
		was.Revision = 0
	case b.site.Held(node.MAC) != nil:
		response.Diagnostics.Append(supersededError(was.Name))
		return
	default:
		was.look(*node, *node.Binding, state.Version())
		response.Diagnostics.Append(b.site.Release(node.MAC)...)
		response.Diagnostics.Append(b.warnDestroy(&state, was)...)
	}
	response.Diagnostics.Append(b.keep(ctx, was, response.Private)...)
}

// supersededError is the error for a state that was not refreshed since a replacement ended early.
func supersededError(name string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The state has two objects of the binding of "+name, "One is left over from an "+
		"apply that ended early, and would be removed by this plan. Nothing was changed. Plan again, with a refresh.")
}

func (b *binding) warnDestroy(state *model, was *record) diag.Diagnostics {
	if !was.ours(b.site.Owner) {
		return was.foreign(b.site.Owner)
	}
	var diagnostics diag.Diagnostics
	if drift := desired.Drift(was.on(state.State()), was.on(was.Desired), was.Generation); drift != "" {
		diagnostics.AddWarning(fmt.Sprintf("%s is %s", was.Name, drift),
			"Somebody else changed the binding. It is removed too.")
	}
	if state.OnDestroy.ValueString() == "wipe" && !was.Desired.WipeOnly() {
		diagnostics.Append(b.site.Plan(site.Reimage{Node: was.Name, Disk: cmp.Or(was.Desired.Disk, was.Disk),
			From: max(was.Generation, was.Status), To: api.NextGeneration(was.Generation, was.Status)})...)
	}
	return diagnostics
}

func (b *binding) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var state model
	response.Diagnostics.Append(layout.Read(ctx, request.State.Raw, &state)...)
	was := b.known(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	mac := state.MAC.ValueString()
	if was.Revision == 0 || b.site.Superseded(mac) { // it was gone when the plan was made, or is replaced
		return
	}
	wipe := state.OnDestroy.ValueString() == "wipe"
	verb := "remove the binding of node "
	if wipe {
		verb = "bind a wipe to node "
	}
	response.Diagnostics.Append(b.site.Call(ctx, verb+was.Name, func(ctx context.Context, client *api.Client) error {
		err := b.remove(ctx, client, mac, was, wipe)
		if err != nil && !wipe && unbound(ctx, client, mac) {
			return nil // it is gone already
		}
		return err
	})...)
	if wipe && !response.Diagnostics.HasError() {
		response.Diagnostics.AddWarning(fmt.Sprintf("Node %s is wiped at its next boot", was.Name),
			fmt.Sprintf("on_destroy = \"wipe\" left a binding without an owner. If this apply replaces the resource, the new "+
				"binding takes its place, and nothing is to be done. Else power-cycle the machine, or run "+
				"playbooks/wipe.yml --limit %s, which waits until the wipe is done.",
				was.Name))
	}
}

func unbound(ctx context.Context, client *api.Client, mac string) bool {
	_, err := client.Binding(ctx, mac)
	return api.IsNotFound(err)
}

func (b *binding) remove(ctx context.Context, client *api.Client, mac string, was *record, wipe bool) error {
	if !wipe {
		owner := b.site.Owner
		if was.ours(owner) {
			owner = was.Desired.Owner
		}
		//nolint:wrapcheck // Call explains it
		return client.DeleteBinding(ctx, mac, api.IfRevision(was.Revision), api.As(owner))
	}
	spec := api.BindingSpec{Node: mac, Disk: was.Desired.Disk, Wipe: was.Desired.Wipe}
	options := []api.Option{api.IfRevision(was.Revision), api.IfGeneration(was.wiped(spec))}
	if was.ours(b.site.Owner) {
		options = append(options, api.TakeOver())
	}
	_, err := client.PutBinding(ctx, spec, options...)
	return err //nolint:wrapcheck // Call explains it
}

// wiped is the generation of a binding that only wipes.
func (r *record) wiped(spec api.BindingSpec) int64 {
	stored := &api.Binding{BindingSpec: r.Desired.BindingSpec, UserDataSHA256: r.Desired.UserDataSHA256,
		Generation: r.Generation}
	return desired.Generation(desired.State{BindingSpec: spec}, stored, r.Status, false)
}
