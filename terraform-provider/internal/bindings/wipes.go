// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

// wipes is a line for each machine whose disk is wiped, null for none at all. Those of which that depends on what the
// apply finds are unknown.
func (p *outlook) wipes() types.Map {
	lines := map[string]attr.Value{}
	for _, mac := range p.unknown {
		if !p.leaves[mac] {
			lines[mac] = types.StringUnknown()
		}
	}
	for mac, s := range p.steps {
		switch {
		case p.leaves[mac]:
		case s.raises && s.generation == 0:
			lines[mac] = types.StringUnknown()
		case s.raises:
			lines[mac] = types.StringValue(p.line(mac, s))
		}
	}
	return mapOf(lines)
}

func (p *outlook) line(mac string, s step) string {
	node := p.nodes[mac]
	o := api.Outlook{Node: cmp.Or(node.Name, mac), Before: s.from, Generation: s.generation,
		Disk: cmp.Or(p.planned.uniform.Disk, node.Disk), Partition: p.planned.uniform.Partition, Had: p.prior.images[mac]}
	if e := p.stored[mac]; e.Desired != nil {
		o.Had = e.Desired.Image
	} else if o.Had == "" && node.Binding != nil && node.Binding.Owner == "" { // it is taken over
		o.Had = node.Binding.Image
	} else if o.Had == "" {
		o.Had = node.Status.Image
	}
	if o.Image = p.planned.images[mac]; s.kind == clean {
		o.Image = ""
	}
	if o.Image == "" || p.planned.uniform.Handover {
		o.Disk = api.AllDisks
	}
	return o.WipeText()
}

// settled are the lines of a plan once it is applied: what was not known is.
func (c *comparison) settled(planned types.Map, done answers) types.Map {
	if planned.IsNull() || planned.IsUnknown() {
		return types.MapNull(types.StringType)
	}
	lines := planned.Elements()
	for mac, line := range lines {
		if !line.IsUnknown() {
			continue
		}
		lines[mac] = types.StringNull()
		if now, bound := done.bound[mac]; bound && now.Generation > c.stored[mac].Generation &&
			(!now.Memory || now.HandsOver) {
			o := api.Outlook{Node: mac, Before: c.stored[mac].Generation, Generation: now.Generation,
				Had: c.prior.images[mac], Image: now.Image, Disk: now.Disk, Partition: now.Partition}
			lines[mac] = types.StringValue(o.WipeText())
		}
	}
	return mapOf(lines)
}

// clears tells the plan of a replacement which machines are wiped first.
func (b *bindings) clears(state model) {
	if state.OnDestroy.ValueString() != "wipe" {
		return
	}
	for mac := range state.Images.Elements() {
		b.site.Clears(mac)
	}
}

func mapOf(lines map[string]attr.Value) types.Map {
	if len(lines) == 0 {
		return types.MapNull(types.StringType)
	}
	return types.MapValueMust(types.StringType, lines)
}
