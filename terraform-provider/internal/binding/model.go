// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/wish"
)

// model is the resource as Terraform has it.
type model struct {
	Node           types.String `tfsdk:"node"`
	ReimageTrigger types.String `tfsdk:"reimage_trigger"`
	OnDrift        types.String `tfsdk:"on_drift"`
	OnDestroy      types.String `tfsdk:"on_destroy"`

	Image           types.String `tfsdk:"image"`
	Disk            types.String `tfsdk:"disk"`
	Hostname        types.String `tfsdk:"hostname"`
	AuthorizedKeys  types.List   `tfsdk:"authorized_keys"`
	KernelArguments types.String `tfsdk:"kernel_arguments"`
	UserData        types.String `tfsdk:"user_data"`
	UserDataSHA256  types.String `tfsdk:"user_data_sha256"`

	Wipe          types.String `tfsdk:"wipe"`
	Mode          types.String `tfsdk:"mode"`
	Verify        types.String `tfsdk:"verify"`
	AllowUnsigned types.Bool   `tfsdk:"allow_unsigned"`
	Boot          types.String `tfsdk:"boot"`

	MAC                types.String `tfsdk:"mac"`
	Generation         types.Int64  `tfsdk:"generation"`
	Drift              types.String `tfsdk:"drift"`
	DiskSelected       types.String `tfsdk:"disk_selected"`
	ObservedImage      types.String `tfsdk:"observed_image"`
	ObservedGeneration types.Int64  `tfsdk:"observed_generation"`
	Phase              types.String `tfsdk:"phase"`
	Reason             types.String `tfsdk:"reason"`
}

// wished is what the model declares.
func (m *model) wished() wish.Wish {
	return wish.Wish{BindingSpec: api.BindingSpec{
		Image: m.Image.ValueString(), Disk: m.Disk.ValueString(), Hostname: m.Hostname.ValueString(), AuthorizedKeys: texts(m.AuthorizedKeys),
		KernelArguments: m.KernelArguments.ValueString(), Wipe: m.Wipe.ValueString(), Mode: m.Mode.ValueString(), Verify: m.Verify.ValueString(),
		AllowUnsigned: m.AllowUnsigned.ValueBool(), Boot: m.Boot.ValueString(),
	}, UserDataSHA256: m.UserDataSHA256.ValueString()}
}

// wishKnown says whether nothing that decides about the generation is still unknown.
func (m *model) wishKnown() bool {
	for _, value := range []attr.Value{m.Image, m.Disk, m.Hostname, m.AuthorizedKeys, m.KernelArguments, m.UserDataSHA256, m.ReimageTrigger, m.OnDrift} {
		if value.IsUnknown() {
			return false
		}
	}
	for _, key := range m.AuthorizedKeys.Elements() {
		if key.IsUnknown() {
			return false
		}
	}
	return true
}

// sameWay says whether both are alike in what raises no generation.
func (m *model) sameWay(other *model) bool {
	return alike(m.Wipe, other.Wipe) && alike(m.Mode, other.Mode) && alike(m.Verify, other.Verify) && alike(m.Boot, other.Boot) &&
		!m.AllowUnsigned.IsUnknown() && m.AllowUnsigned.ValueBool() == other.AllowUnsigned.ValueBool()
}

func alike(a, b types.String) bool { return !a.IsUnknown() && a.ValueString() == b.ValueString() }

// declare takes over what is stored. What is not set stays null, or what stands for the same.
func (m *model) declare(stored wish.Wish) {
	set := func(value *types.String, text string) {
		if value.ValueString() != text {
			*value = optional(text)
		}
	}
	set(&m.Image, stored.Image)
	set(&m.Disk, stored.Disk)
	set(&m.Hostname, stored.Hostname)
	set(&m.KernelArguments, stored.KernelArguments)
	set(&m.UserDataSHA256, stored.UserDataSHA256)
	set(&m.Wipe, stored.Wipe)
	set(&m.Mode, stored.Mode)
	set(&m.Verify, stored.Verify)
	set(&m.Boot, stored.Boot)
	if m.AllowUnsigned.ValueBool() != stored.AllowUnsigned {
		m.AllowUnsigned = types.BoolValue(stored.AllowUnsigned)
	}
	m.AuthorizedKeys = list(stored.AuthorizedKeys)
}

// observe takes over what was observed of the node.
func (m *model) observe(node api.Node) {
	m.MAC = types.StringValue(node.MAC)
	m.ObservedImage = optional(node.Status.Image)
	m.ObservedGeneration = types.Int64Value(node.Status.Generation)
	m.Phase = optional(string(node.Status.Phase))
	m.Reason = optional(node.Status.Reason)
	m.DiskSelected = optional(cmp.Or(m.Disk.ValueString(), node.Disk))
}

// computedOf takes over what was computed before: a plan that changes none of it.
func (m *model) computedOf(state *model) {
	m.MAC, m.Generation, m.Drift, m.DiskSelected = state.MAC, state.Generation, state.Drift, state.DiskSelected
	m.ObservedImage, m.ObservedGeneration, m.Phase, m.Reason = state.ObservedImage, state.ObservedGeneration, state.Phase, state.Reason
}

// unobserved makes unknown what a machine changes once it has another wish.
func (m *model) unobserved() {
	m.ObservedImage, m.ObservedGeneration = types.StringUnknown(), types.Int64Unknown()
	m.Phase, m.Reason = types.StringUnknown(), types.StringUnknown()
}

// settle gives the values that were unknown in the plan their own; those that were known stay as planned.
func (m *model) settle(node api.Node, generation int64) {
	seen := *m
	seen.observe(node)
	for _, pair := range [][2]*types.String{
		{&m.MAC, &seen.MAC}, {&m.DiskSelected, &seen.DiskSelected}, {&m.ObservedImage, &seen.ObservedImage}, {&m.Phase, &seen.Phase}, {&m.Reason, &seen.Reason},
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
	if m.Drift.IsUnknown() {
		m.Drift = types.StringValue("")
	}
}

// optional is null for an empty text.
func optional(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func texts(list types.List) []string {
	var all []string
	for _, element := range list.Elements() {
		if text, ok := element.(types.String); ok {
			all = append(all, text.ValueString())
		}
	}
	return all
}

func list(texts []string) types.List {
	if len(texts) == 0 {
		return types.ListNull(types.StringType)
	}
	elements := make([]attr.Value, len(texts))
	for i, text := range texts {
		elements[i] = types.StringValue(text)
	}
	return types.ListValueMust(types.StringType, elements)
}
