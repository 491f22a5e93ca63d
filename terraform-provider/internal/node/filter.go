// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// pageSize is how many nodes one answer holds: few calls for a large fleet, and each answer well within its deadline.
const pageSize = 2000

const (
	labelsText     = "Labels that a node must all have."
	phaseText      = "Phase that was last observed, such as `idle`, `operational` or `failed`."
	imageText      = "Image that a node is bound to, or, if it is not bound, has on its disk."
	discoveredText = "`true`: only machines that booted and are not declared; `false`: only declared ones."
)

// phaseFilter allows what sledd accepts as a phase.
func phaseFilter() []validator.String {
	names := []string{}
	for _, phase := range api.Phases() {
		names = append(names, string(phase))
	}
	return []validator.String{stringvalidator.OneOf(names...)}
}

// labelFilter allows what sledd accepts as labels.
func labelFilter() []validator.Map {
	return []validator.Map{mapvalidator.SizeAtMost(16), mapvalidator.NoNullValues(),
		mapvalidator.KeysAre(stringvalidator.LengthAtLeast(1))}
}

// filter of nodes; null matches all.
type filter struct {
	Labels     map[string]string `tfsdk:"labels"`
	Phase      types.String      `tfsdk:"phase"`
	Image      types.String      `tfsdk:"image"`
	Discovered types.Bool        `tfsdk:"discovered"`
}

func (f filter) api() api.Filter {
	asked := api.Filter{Image: f.Image.ValueString(), Limit: pageSize}
	if phase := f.Phase.ValueString(); phase != "" {
		asked.Phases = []api.Phase{api.Phase(phase)}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		asked.Labels = append(asked.Labels, name+"="+f.Labels[name])
	}
	return asked
}

func (f filter) takes(node api.Node) bool {
	return f.Discovered.IsNull() || f.Discovered.ValueBool() != node.Declared
}

// list returns the nodes that match the filter, by MAC; most is their maximum number, 0 for all.
func (f filter) list(ctx context.Context, s *site.Site, most int64) ([]api.Node, diag.Diagnostics) {
	chosen := []api.Node{}
	diagnostics := s.CallBulk(ctx, "list nodes", func(ctx context.Context, client *api.Client) error {
		for node, err := range client.Nodes(ctx, f.api()) {
			if err != nil {
				return err //nolint:wrapcheck // CallBulk explains it
			}
			if f.takes(node) {
				chosen = append(chosen, node)
			}
			if most > 0 && int64(len(chosen)) == most {
				break
			}
		}
		return nil
	})
	return chosen, diagnostics
}
