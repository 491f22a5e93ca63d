// SPDX-License-Identifier: Apache-2.0

package node

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

// observed is what both data sources return of a node: its binding and its observed state.
type observed struct {
	Declared           types.Bool        `tfsdk:"declared"`
	Labels             map[string]string `tfsdk:"labels"`
	Image              types.String      `tfsdk:"image"`
	Generation         types.Int64       `tfsdk:"generation"`
	Owner              types.String      `tfsdk:"owner"`
	Satisfied          types.Bool        `tfsdk:"satisfied"`
	Phase              types.String      `tfsdk:"phase"`
	Reason             types.String      `tfsdk:"reason"`
	ObservedImage      types.String      `tfsdk:"observed_image"`
	ObservedGeneration types.Int64       `tfsdk:"observed_generation"`
	Seen               types.String      `tfsdk:"seen"`
}

func observedOf(node api.Node) observed {
	s := observed{
		Declared: types.BoolValue(node.Declared), Labels: node.Labels, Satisfied: types.BoolValue(false),
		Phase:  text(string(node.Status.Phase)),
		Reason: text(node.Status.Reason.String()), ObservedImage: text(node.Status.Image),
		ObservedGeneration: types.Int64Value(node.Status.Generation),
	}
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	if !node.Status.Seen.IsZero() {
		s.Seen = types.StringValue(node.Status.Seen.UTC().Format(time.RFC3339))
	}
	if b := node.Binding; b != nil {
		s.Image, s.Generation, s.Owner, s.Satisfied = text(b.Image), types.Int64Value(b.Generation), text(b.Owner),
			types.BoolValue(b.Satisfied)
	}
	return s
}

// observedSchema is the attributes of observed.
func observedSchema() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"declared": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it is declared; `false` " +
			"for a machine that was only discovered."},
		"labels": schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Its labels; empty when it has none."},
		"image": schema.StringAttribute{Computed: true,
			MarkdownDescription: "Image of its binding; null without a binding, or when it is only to be wiped."},
		"generation": schema.Int64Attribute{Computed: true, MarkdownDescription: "Generation of its binding; null " +
			"without one."},
		"owner": schema.StringAttribute{Computed: true,
			MarkdownDescription: "Who declares its binding; null without an owner."},
		"satisfied": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it was observed to have " +
			"done what its binding requests; `false` without one."},
		"phase": schema.StringAttribute{Computed: true,
			MarkdownDescription: "What was last observed, such as `idle`, `operational` or `failed`; null before " +
				"it was seen."},
		"reason": schema.StringAttribute{Computed: true,
			MarkdownDescription: "Why a step failed; null if none failed."},
		"observed_image": schema.StringAttribute{Computed: true,
			MarkdownDescription: "Image on its disk, as last observed; null when none is known."},
		"observed_generation": schema.Int64Attribute{Computed: true,
			MarkdownDescription: "Generation of the plan that it last received; 0 for none."},
		"seen": schema.StringAttribute{Computed: true,
			MarkdownDescription: "When it last reported (RFC 3339, UTC); null before it was seen."},
	}
}
