// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// recordKey is where the record is in the private state. Later versions must read what earlier ones wrote.
const recordKey = "stored"

// record is what sledd had stored at the last refresh. It is in the private state, so a saved plan carries it, and the
// revision shows later changes. It holds no secret.
type record struct {
	Desired    desired.State `json:"desired"`
	Generation int64         `json:"generation"`
	Status     int64         `json:"status_generation,omitempty"`
	Revision   int64         `json:"revision"`
	// under which this state declared or imported it; Desired.Owner is whose it is now
	Owner    string     `json:"owner"`
	Memory   bool       `json:"memory,omitempty"`   // its image runs from memory
	Name     string     `json:"name"`               // of the node
	Disk     string     `json:"disk,omitempty"`     // of the node, when the binding has none
	Keep     []string   `json:"keep,omitempty"`     // of the node
	Disks    []api.Disk `json:"disks,omitempty"`    // of the node, as it reported them
	Absent   bool       `json:"absent,omitempty"`   // somebody took the binding away
	Gone     bool       `json:"gone,omitempty"`     // and deleted the node
	Moved    string     `json:"moved,omitempty"`    // or gave it this MAC
	Imported bool       `json:"imported,omitempty"` // and nothing applied since
	// of what the import found, while the configuration does not name it
	Kept     desired.Kept `json:"kept,omitzero"`
	Replaced bool         `json:"replaced,omitempty"` // a newer object has the binding: this one has none to remove
}

// look records what is stored now. A version stands for the user data.
func (r *record) look(node api.Node, stored api.Binding, version string) {
	r.Desired, r.Generation, r.Revision = desired.Of(stored).As(version), stored.Generation, stored.Revision
	r.Memory, r.Absent, r.Gone, r.Moved = stored.Memory, false, false, ""
	r.Status, r.Name, r.Disk, r.Disks = node.Status.Generation, node.Name, node.Disk, node.Facts.Candidates()
	r.Keep = node.KeepDisks
}

// miss records that nothing is stored any more; nil: not even the node.
func (r *record) miss(node *api.Node) {
	r.Absent, r.Gone, r.Moved, r.Revision = true, node == nil, "", 0
	if node != nil {
		r.Status, r.Name, r.Disk, r.Disks = node.Status.Generation, node.Name, node.Disk, node.Facts.Candidates()
		r.Keep = node.KeepDisks
	}
}

// absence is what is there instead of the binding.
func (r *record) absence() string {
	switch {
	case r.Moved != "":
		return fmt.Sprintf("bound under another MAC, %s, after generation %d", r.Moved, r.Generation)
	case r.Gone:
		return fmt.Sprintf("not known to sledd any more, after generation %d", r.Generation)
	}
	return fmt.Sprintf("not bound any more, after generation %d", r.Generation)
}

// next is the generation of a changed binding; 0: not known.
func (r *record) next() int64 {
	switch {
	case r.Gone:
		return 0
	case r.Absent:
		return api.NextGeneration(0, r.Status)
	}
	return api.NextGeneration(r.Generation, r.Status)
}

// outlook is what is there before the planned change of the binding.
func (r *record) outlook(plan *model) api.Outlook {
	o := api.Outlook{Node: r.Name, Before: max(r.Generation, r.Status), Had: r.Desired.Image,
		Disk: cmp.Or(plan.Disk.ValueString(), r.Disk), Partition: plan.Partition.ValueString()}
	if plan.Image.IsNull() || plan.Handover.ValueBool() {
		o.Disk = api.AllDisks
	}
	o.Match(r.Keep, r.Disks)
	return o
}

// on adds the node to a desired state, for its defaults.
func (r *record) on(state desired.State) desired.State {
	state.On = &api.NodeSpec{Name: r.Name, Disk: r.Disk}
	return state
}

// ours reports whether this state may change the binding: it has no owner, it is this provider's, or the state
// declared or imported it under another owner.
func (r *record) ours(owner string) bool {
	return r.Desired.Owner == "" || r.Desired.Owner == owner || r.Desired.Owner == r.Owner
}

// foreign is the error for a binding that was taken over.
func (r *record) foreign(owner string) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("The binding of %s now belongs to %s", r.Name,
		r.Desired.Owner),
		fmt.Sprintf("It was taken over; this provider declares as %s. Remove it from this state "+
			"(terraform state rm ADDRESS) and configuration. To take it back, import it after that "+
			"(terraform import ADDRESS %s).", owner, r.Name))}
}

// load reads the record; nil when there is none.
func (b *binding) load(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) *record {
	value, problems := private.GetKey(ctx, recordKey)
	diagnostics.Append(problems...)
	if len(value) == 0 {
		return nil
	}
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		diagnostics.AddError("The private state of sled_binding is damaged",
			err.Error()+"\n\nRemove the binding from the state and import it again.")
		return nil
	}
	return &r
}

// known is load where a record must exist, of the fleet that answers.
func (b *binding) known(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) *record {
	diagnostics.Append(b.site.SameFleet(ctx, private)...)
	r := b.load(ctx, private, diagnostics)
	if r == nil && !diagnostics.HasError() {
		diagnostics.AddError("The state has no record of the binding", "Run it again with -refresh=true.")
	}
	return r
}

// keep stores the record in the private state.
func (b *binding) keep(ctx context.Context, r *record, private site.Keeper) diag.Diagnostics {
	value, err := json.Marshal(r)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The private state of sled_binding cannot be written",
			err.Error())}
	}
	diagnostics := private.SetKey(ctx, recordKey, value)
	diagnostics.Append(b.site.KeepFleet(ctx, private)...)
	return diagnostics
}
