// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// sort is what sledd's rules look at beside the attributes that all machines share.
type sort struct {
	image, architecture string
	disk                bool // the node has a selector
}

// check has sledd check what the apply would bind, by one machine of each sort.
func (p *outlook) check(ctx context.Context, b *bindings, m model) diag.Diagnostics {
	if !m.known() || !m.MethodKnown() {
		return nil
	}
	var items []api.BulkBinding
	seen := map[sort]bool{}
	for _, mac := range append(sortedKeys(p.steps), slices.Sorted(slices.Values(p.unknown))...) {
		s, decided := p.steps[mac]
		image := p.planned.images[mac]
		if image == "" || decided && (s.adopts || s.kind != put && s.kind != again) {
			continue
		}
		node := p.nodes[mac].NodeSpec
		if planned, found := b.site.PlannedNode(mac); found {
			node = planned.NodeSpec
		}
		if one := (sort{image, node.Architecture, node.Disk != ""}); !seen[one] {
			seen[one] = true
			items = append(items, p.item(mac))
		}
	}
	return b.site.CheckBindings(ctx, fmt.Sprintf("bind machines of sled_bindings %s", m.Name.ValueString()), items)
}

// judge finds the machines whose disks stay as they are.
func (p *outlook) judge(ctx context.Context, b *bindings, m model) {
	var items []api.BulkBinding
	for mac := range p.planned.images {
		s, decided := p.steps[mac]
		if !decided || s.raises && (s.kind == put || s.kind == again) {
			items = append(items, p.item(mac))
		}
	}
	if m.known() && m.MethodKnown() {
		p.leaves = b.site.Leaves(ctx, items)
	}
}

// item is what the apply sends for a machine.
func (p *outlook) item(mac string) api.BulkBinding {
	spec := p.planned.stateOf(mac).Named(p.stored[mac].Hostname).BindingSpec
	spec.Node, spec.Owner = mac, p.owner
	return api.BulkBinding{BindingSpec: spec}
}

// declared refuses machines that neither sledd nor the run declares.
func (p *outlook) declared(ctx context.Context, b *bindings, added []string) diag.Diagnostics {
	var missing []string
	for _, mac := range added {
		if p.nodes[mac].Declared {
			continue
		}
		if _, diagnostics := b.site.Declared(ctx, mac); diagnostics.HasError() {
			missing = append(missing, p.name(mac))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("images"), "Machines are not declared",
		fmt.Sprintf("sledd has no declaration of them, and neither has this plan: %s.\n\nDeclare them with sled_node or "+
			"sled_nodes, and take the MACs from there, so that Terraform creates them first. If another provider block "+
			"declares them, apply that first (-target).", textlist.Sentence(missing)))}
}

// unclaimed refuses a second resource of one name: it would adopt the machines of the first and unbind them.
func (b *bindings) unclaimed(ctx context.Context, c comparison) diag.Diagnostics {
	nodes, diagnostics := b.ours(ctx, c.owner)
	var claimed []string
	for mac, node := range nodes {
		if _, found := c.planned.images[mac]; !found {
			claimed = append(claimed, fmt.Sprintf("%s (%s)", node.Name, mac))
		}
	}
	if len(claimed) > 0 {
		diagnostics.AddAttributeError(path.Root("name"), "The name is in use",
			fmt.Sprintf("Machines that are not in images are bound by %s: %s.\n\n"+
				"Choose another name, or import the resource under this name if no other state has it.", c.owner,
				textlist.Sentence(claimed)))
	}
	return diagnostics
}
