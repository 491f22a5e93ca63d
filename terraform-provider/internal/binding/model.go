// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/modelcodec"
)

// model is the resource as Terraform has it.
type model struct {
	Node           types.String `tfsdk:"node"`
	ReimageTrigger types.String `tfsdk:"reimage_trigger"`
	OnDrift        types.String `tfsdk:"on_drift"`
	OnDestroy      types.String `tfsdk:"on_destroy"`
	AdmitWithin    types.String `tfsdk:"admit_within"`

	desired.Attributes

	MAC                types.String `tfsdk:"mac"`
	Generation         types.Int64  `tfsdk:"generation"`
	Drift              types.String `tfsdk:"drift"`
	DiskSelected       types.String `tfsdk:"disk_selected"`
	ObservedImage      types.String `tfsdk:"observed_image"`
	ObservedGeneration types.Int64  `tfsdk:"observed_generation"`
	Phase              types.String `tfsdk:"phase"`
	Reason             types.String `tfsdk:"reason"`
	SeedDiffers        types.Bool   `tfsdk:"seed_differs"`
	Wipes              types.String `tfsdk:"wipes"`
}

// layout is where the attributes of the schema are in a model.
var layout = modelcodec.Of[model](schemaOf())

// known is true when nothing that decides about the generation is still unknown.
// Without an image, the method does too.
func (m *model) known() bool {
	return m.DesiredKnown() && desired.Known(m.ReimageTrigger, m.OnDrift) && (!m.State().WipeOnly() || m.MethodKnown())
}

// ownDisk reports whether the binding has a selector; an empty one is none.
func (m *model) ownDisk() bool { return m.Disk.IsUnknown() || m.Disk.ValueString() != "" }

// observe copies the observed status of the node.
func (m *model) observe(node api.Node) {
	m.MAC = types.StringValue(node.MAC)
	m.ObservedImage = desired.Optional(node.Status.Image)
	m.ObservedGeneration = types.Int64Value(node.Status.Generation)
	m.Phase = desired.Optional(string(node.Status.Phase))
	m.Reason = desired.Optional(node.Status.Reason.String())
	bound := cmp.Or(node.Binding, &api.Binding{})
	m.DiskSelected = selected(bound.Memory, bound.Disk, node.Disk)
	m.SeedDiffers = types.BoolValue(bound.SeedDiffers)
}

// noneSelected stands for a selector where the image runs from memory.
const noneSelected = "none"

// selected is the selector of the disk that gets an image: the binding's, or the node's.
func selected(memory bool, disk, ofNode string) types.String {
	if memory {
		return types.StringValue(noneSelected)
	}
	return desired.Optional(cmp.Or(disk, ofNode))
}

// computedOf copies the computed attributes of the state: for a plan that changes none of them.
func (m *model) computedOf(state *model) {
	m.MAC, m.Generation, m.Drift, m.DiskSelected = state.MAC, state.Generation, state.Drift, state.DiskSelected
	m.ObservedImage, m.ObservedGeneration, m.Phase, m.Reason = state.ObservedImage, state.ObservedGeneration,
		state.Phase, state.Reason
	m.SeedDiffers, m.Wipes = state.SeedDiffers, state.Wipes
}

// unobserved makes unknown what changes once the machine has another desired state.
func (m *model) unobserved() {
	m.ObservedImage, m.ObservedGeneration = types.StringUnknown(), types.Int64Unknown()
	m.Phase, m.Reason = types.StringUnknown(), types.StringUnknown()
	m.SeedDiffers = types.BoolUnknown()
}

// fresh makes unknown what a new binding gets.
func (m *model) fresh() {
	m.unobserved()
	m.Drift, m.Generation = types.StringValue(""), types.Int64Unknown()
	m.MAC, m.DiskSelected, m.Wipes = types.StringUnknown(), m.Disk, types.StringUnknown()
	if !m.ownDisk() {
		m.DiskSelected = types.StringUnknown() // the node may get another one by the same apply
	}
}

// settle sets the values that were unknown in the plan; those that were known stay as planned.
func (m *model) settle(node api.Node, stored api.Binding, before api.Outlook) {
	seen, generation := *m, stored.Generation
	node.Binding = &stored
	seen.observe(node)
	for _, pair := range [][2]*types.String{
		{&m.MAC, &seen.MAC}, {&m.DiskSelected, &seen.DiskSelected}, {&m.ObservedImage, &seen.ObservedImage},
		{&m.Phase, &seen.Phase}, {&m.Reason, &seen.Reason},
	} {
		if pair[0].IsUnknown() {
			*pair[0] = *pair[1]
		}
	}
	if m.ObservedGeneration.IsUnknown() {
		m.ObservedGeneration = seen.ObservedGeneration
	}
	if m.Generation.IsUnknown() {
		m.Generation = types.Int64Value(generation)
	}
	if m.SeedDiffers.IsUnknown() {
		m.SeedDiffers = seen.SeedDiffers
	}
	if m.Wipes.IsUnknown() {
		m.Wipes = types.StringNull()
		if generation > before.Before && (!stored.Memory || stored.HandsOver) {
			before.Generation, before.Image = generation, stored.Image
			m.Wipes = types.StringValue(before.WipeText())
		}
	}
	if m.Drift.IsUnknown() {
		m.Drift = types.StringValue("")
	}
}
