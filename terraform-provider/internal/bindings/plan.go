// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// ModifyPlan computes the generation of each binding and warns of every disk that is written.
func (b *bindings) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if b.site == nil { // the provider is not configured yet
		return
	}
	var state, m model
	if !request.State.Raw.IsNull() {
		response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	}
	b.clears(state)
	if request.Plan.Raw.IsNull() {
		b.planDestroy(ctx, state, request, response)
		return
	}
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	kept := b.seed(ctx, &m, &state, request, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	if m.Images.IsUnknown() || m.Name.IsUnknown() || !request.State.Raw.IsNull() && !state.Name.Equal(m.Name) {
		m.Generations, m.Drifted = types.MapUnknown(types.Int64Type), types.MapUnknown(types.StringType)
		m.Wipes = types.MapUnknown(types.StringType)
		response.Diagnostics.Append(response.Plan.Set(ctx, m)...)
		return
	}
	c := comparison{owner: b.owner(m.Name.ValueString()), family: b.site.Owner, prior: declare(state),
		generations: numberMap(state.Generations), planned: declare(m),
		stored:   b.getStored(ctx, request.Private, &response.Diagnostics),
		imported: getImported(ctx, request.Private, &response.Diagnostics),
		kept:     kept,
		replaced: request.State.Raw.IsNull()}
	response.Diagnostics.Append(c.dropped(&state, &m)...)
	c.catchUp(b.site)
	p := outlook{comparison: c, steps: map[string]step{}}
	if c.replaced && len(c.stored) == 0 {
		response.Diagnostics.Append(b.unclaimed(ctx, c)...)
	}
	response.Diagnostics.Append(p.make(ctx, b, m)...)
	if response.Diagnostics.HasError() {
		return
	}
	response.Diagnostics.Append(p.lost()...)
	response.Diagnostics.Append(b.guard(p.reimages(), m.MaxReimages)...)
	m.Generations, m.Drifted = p.result()
	if m.Wipes = p.wipes(); m.Wipes.IsNull() && !state.Wipes.IsUnknown() && !request.State.Raw.IsNull() {
		m.Wipes = state.Wipes
	}
	response.Diagnostics.Append(response.Plan.Set(ctx, m)...)
}

// outlook is what a plan does.
type outlook struct {
	comparison
	steps   map[string]step
	unknown []string            // MACs whose generation is not known yet
	maybe   bool                // so are machines that are bound already
	nodes   map[string]api.Node // that are named in messages
	leaves  map[string]bool     // MACs of machines whose disks stay, as their image runs from memory
}

// make decides about all machines.
func (p *outlook) make(ctx context.Context, b *bindings, m model) diag.Diagnostics {
	var added, told []string
	images := m.Images.Elements() // a copy
	sure := m.known()
	var diagnostics diag.Diagnostics
	if p.defaults, diagnostics = b.defaults(ctx, p.comparison); diagnostics.HasError() {
		return diagnostics
	}
	for mac, image := range images {
		_, there := p.prior.images[mac]
		switch {
		case !sure || image.IsUnknown():
			p.unknown = append(p.unknown, mac)
			if there { // counts as one that is imaged
				p.steps[mac], p.maybe = step{kind: put, from: p.stored[mac].Generation, raises: true}, true
			}
		case there:
			p.steps[mac] = p.step(mac)
		default:
			added = append(added, mac)
		}
	}
	if diagnostics = p.leave(b, images); diagnostics.HasError() {
		return diagnostics
	}
	for mac, s := range p.steps {
		if s.raises || s.kind >= drifted {
			told = append(told, mac)
		}
	}
	if p.nodes, diagnostics = b.nodes(ctx, append(told, added...)); diagnostics.HasError() {
		return diagnostics
	}
	diagnostics.Append(p.join(b, m.Name.ValueString(), added)...)
	diagnostics.Append(p.declared(ctx, b, added)...)
	if diagnostics.Append(p.report()...); !diagnostics.HasError() {
		diagnostics.Append(p.check(ctx, b, m)...)
		p.judge(ctx, b, m)
	}
	return diagnostics
}

// leave decides about machines that are no longer planned.
func (p *outlook) leave(b *bindings, planned map[string]attr.Value) diag.Diagnostics {
	var diagnostics diag.Diagnostics
	for mac := range p.prior.images {
		if _, stays := planned[mac]; !stays {
			p.steps[mac] = p.stepGone(mac)
			diagnostics.Append(b.release(mac, p.steps[mac])...)
		}
	}
	return diagnostics
}

// join decides about machines that are new here.
func (p *outlook) join(b *bindings, name string, added []string) diag.Diagnostics {
	var diagnostics diag.Diagnostics
	for _, mac := range added {
		diagnostics.Append(b.site.PlanBinding(mac, "sled_bindings "+name)...)
		node, found := p.nodes[mac]
		if _, back := p.stored[mac]; !found || !node.Declared || p.replaced && back && b.site.Cleared(mac) {
			p.unknown = append(p.unknown, mac)
			continue
		}
		if p.steps[mac] = p.stepNew(mac, node); p.steps[mac].adopts {
			diagnostics.Append(b.site.Adopt(mac)...)
		}
	}
	return diagnostics
}

// name of a machine in messages.
func (p *outlook) name(mac string) string {
	if node := p.nodes[mac]; node.Name != "" {
		return fmt.Sprintf("%s (%s)", node.Name, mac)
	}
	return mac
}

// report lists what prevents the plan, and what drifted.
func (p *outlook) report() diag.Diagnostics {
	var theirs, stuck, other, refused, adopted []string
	for _, mac := range sortedKeys(p.steps) {
		s := p.steps[mac]
		switch s.kind {
		case foreign:
			theirs = append(theirs, fmt.Sprintf("%s belongs to %s", p.name(mac), s.other.Owner))
		case blocked:
			stuck = append(stuck, p.drift(mac))
		case failed:
			refused = append(refused, p.drift(mac))
		case drifted:
			other = append(other, p.drift(mac))
		default:
			if s.adopts {
				adopted = append(adopted, fmt.Sprintf("%s, from %s, at generation %d", p.name(mac), s.other.Owner, s.generation))
			}
		}
	}
	var diagnostics diag.Diagnostics
	if len(adopted) > 0 {
		diagnostics.AddWarning(fmt.Sprintf("%d bindings are taken over as they are", len(adopted)), textlist.Lines(adopted)+
			"\n\nNothing is imaged. Remove them from the other resource after this apply.")
	}
	if len(theirs) > 0 {
		diagnostics.AddError("Machines are bound by somebody else", textlist.Lines(theirs)+
			"\n\nRemove them from images here, or have their owner remove the bindings first.")
	}
	if len(stuck) > 0 {
		diagnostics.AddError("Machines are bound differently, and this change would wipe that", textlist.Lines(stuck)+
			"\n\nSet on_drift = \"reimage\" to image them as declared here, declare what is bound now, or remove "+
			"them from images.")
	}
	if len(refused) > 0 {
		diagnostics.AddError(fmt.Sprintf("%d machines are bound differently than declared", len(refused)),
			textlist.Lines(refused)+"\n\nNothing is planned, because on_drift is \"fail\". "+
				"Set on_drift = \"reimage\" to image them as declared "+
				"here, declare what is bound now, or remove them from images.")
	}
	if len(other) > 0 && p.planned.onDrift == desired.Warn {
		diagnostics.AddWarning(fmt.Sprintf("%d machines are bound differently than declared", len(other)),
			textlist.Lines(other)+"\n\nThey are left alone. Set on_drift = \"reimage\" to image them as declared here, "+
				"or \"ignore\" to get no warning.")
	}
	return diagnostics
}

func (p *outlook) drift(mac string) string {
	if p.stored[mac].Absent {
		return fmt.Sprintf("%s: not bound any more, after generation %d", p.name(mac), p.stored[mac].Generation)
	}
	text := desired.Drift(p.with(mac, p.prior.stateOf(mac)), p.steps[mac].other, p.stored[mac].Generation)
	if text == "" {
		text = "the same, at generation " + fmt.Sprint(p.stored[mac].Generation)
	}
	if owner := p.steps[mac].other.Owner; owner != p.owner {
		text += fmt.Sprintf(", by %s", orNobody(owner))
	}
	return p.name(mac) + ": " + text
}

func orNobody(owner string) string {
	if owner == "" {
		return "nobody"
	}
	return owner
}

// reimages are the machines whose disk is written, in order.
func (p *outlook) reimages() []site.Reimage {
	var all []site.Reimage
	disk := p.planned.uniform.Disk
	if p.planned.uniform.Handover {
		disk = api.AllDisks
	}
	for _, mac := range sortedKeys(p.steps) {
		s := p.steps[mac]
		if !s.raises || p.leaves[mac] {
			continue
		}
		one := site.Reimage{Node: p.nodes[mac].Name, MAC: mac, Disk: disk, Partition: p.planned.uniform.Partition,
			Image: p.planned.images[mac], From: s.from, To: s.generation}
		if one.Image == "" && s.kind != clean {
			one.Image = "(known after apply)"
		}
		if one.Node == "" {
			one.Node = mac
		}
		if one.Disk == "" {
			one.Disk = p.nodes[mac].Disk
		}
		all = append(all, one)
	}
	for _, mac := range slices.Sorted(slices.Values(p.unknown)) { // the same apply declares them, or makes their image
		if _, there := p.steps[mac]; !there && !p.leaves[mac] {
			all = append(all, site.Reimage{Node: mac, MAC: mac, Disk: cmp.Or(disk, "of the node"),
				Partition: p.planned.uniform.Partition,
				Image:     cmp.Or(p.planned.images[mac], "(known after apply)"),
				From:      cmp.Or(p.stored[mac].Generation, p.nodes[mac].Status.Generation)})
		}
	}
	return all
}

// result is the generations and the exceptions after the plan.
func (p *outlook) result() (generations, exceptions types.Map) {
	numbers, others := map[string]int64{}, map[string]string{}
	for mac, s := range p.steps {
		if s.kind == unbind || s.kind == clean {
			continue
		}
		if _, stays := p.planned.images[mac]; !stays {
			continue
		}
		numbers[mac] = s.generation
		if s.kind == drifted {
			others[mac] = p.exception(mac, s)
		}
	}
	if p.maybe {
		return ofNumbers(numbers, p.unknown...), types.MapUnknown(types.StringType)
	}
	return ofNumbers(numbers, p.unknown...), ofStrings(others)
}

// guard counts what is imaged again, here and over all resources.
func (b *bindings) guard(all []site.Reimage, limit types.Int64) diag.Diagnostics {
	diagnostics := b.site.Plan(all...)
	var again []string
	for _, one := range all {
		if !one.First() {
			again = append(again, one.Node)
		}
	}
	if !limit.IsNull() && !limit.IsUnknown() && int64(len(again)) > limit.ValueInt64() {
		diagnostics.AddAttributeError(path.Root("max_reimages"), "Too many machines would be imaged again",
			fmt.Sprintf("max_reimages is %d, this plan images %d: %s.\n\nPlan fewer, or raise max_reimages.",
				limit.ValueInt64(), len(again), textlist.Sentence(again)))
	}
	return diagnostics
}

// release tells the other resources of the run whose binding is removed.
func (b *bindings) release(mac string, s step) diag.Diagnostics {
	if s.kind != unbind && s.kind != clean {
		return nil
	}
	return b.site.Release(mac)
}

// planDestroy warns of disks that are wiped.
func (b *bindings) planDestroy(ctx context.Context, state model, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	if response.Diagnostics.HasError() {
		return
	}
	p := outlook{comparison: comparison{owner: b.owner(state.Name.ValueString()), prior: declare(state),
		planned: declared{uniform: state.State(), onDestroy: state.OnDestroy.ValueString()},
		stored:  b.getStored(ctx, request.Private, &response.Diagnostics)}, steps: map[string]step{}}
	for mac := range p.prior.images {
		p.steps[mac] = p.stepGone(mac)
		response.Diagnostics.Append(b.release(mac, p.steps[mac])...)
	}
	if p.planned.onDestroy != "wipe" {
		return
	}
	var diagnostics diag.Diagnostics
	p.nodes, diagnostics = b.nodes(ctx, sortedKeys(p.steps))
	response.Diagnostics.Append(diagnostics...)
	if !response.Diagnostics.HasError() {
		response.Diagnostics.Append(b.guard(p.reimages(), state.MaxReimages)...)
	}
}
