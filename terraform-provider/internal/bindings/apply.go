// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"cmp"
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/admitwithin"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// Create binds all machines. When only some could be bound there is no state: Terraform then creates the resource
// again, which leaves the bound machines as they are. A tainted state would be destroyed first and image them twice.
func (b *bindings) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	a, diagnostics := b.change(ctx, nil, request.Plan, request.Config, comparison{})
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	b.setStored(ctx, response.Private, a.stored, &response.Diagnostics)
	response.Diagnostics.Append(response.State.Set(ctx, a.model)...)
	response.Diagnostics.Append(response.Identity.Set(ctx, identity{a.model.Name.ValueString()})...)
}

// Update sends what differs. When only a part could be sent, the state has that part, so the next apply sends the rest.
func (b *bindings) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	c := comparison{stored: b.getStored(ctx, request.Private, &response.Diagnostics),
		imported: getImported(ctx, request.Private, &response.Diagnostics),
		kept:     getKept(ctx, request.Private, &response.Diagnostics)}
	if response.Diagnostics.HasError() {
		return
	}
	a, diagnostics := b.change(ctx, &request.State, request.Plan, request.Config, c)
	response.Diagnostics.Append(diagnostics...)
	if a == nil {
		return
	}
	b.setStored(ctx, response.Private, a.stored, &response.Diagnostics)
	if !diagnostics.HasError() {
		response.Diagnostics.Append(response.Private.SetKey(ctx, importedKey, []byte("false"))...)
		setKept(ctx, response.Private, a.kept, &response.Diagnostics)
	}
	response.Diagnostics.Append(response.State.Set(ctx, a.model)...)
	response.Diagnostics.Append(response.Identity.Set(ctx, identity{a.model.Name.ValueString()})...)
}

// Delete removes all bindings, or wipes. Bindings that are gone, or now have another owner, are left alone.
func (b *bindings) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var m model
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	c := comparison{owner: b.owner(m.Name.ValueString()), prior: declare(m),
		stored: b.getStored(ctx, request.Private, &response.Diagnostics)}
	if response.Diagnostics.HasError() {
		return
	}
	c.planned.onDestroy = c.prior.onDestroy
	nodes, diagnostics := b.ours(ctx, c.owner)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	var orders []order
	for mac := range c.prior.images {
		if _, found := nodes[mac]; found {
			orders = append(orders, c.order(mac, c.stepGone(mac), ""))
		}
	}
	_, diagnostics = b.send(ctx, orders, m.MaxReimages)
	response.Diagnostics.Append(diagnostics...)
}

// applied is the result of an apply, which may be partial.
type applied struct {
	model  model
	stored map[string]stored
	kept   desired.Kept
}

// change applies the plan; state is nil for a new resource. It returns nil when nothing could be tried.
func (b *bindings) change(ctx context.Context, state *tfsdk.State, plan tfsdk.Plan, configuration tfsdk.Config,
	c comparison) (*applied, diag.Diagnostics) {
	var was, is model
	var config model
	var diagnostics diag.Diagnostics
	if state != nil {
		diagnostics.Append(state.Get(ctx, &was)...)
	}
	diagnostics.Append(plan.Get(ctx, &is)...)
	diagnostics.Append(configuration.Get(ctx, &config)...)
	if diagnostics.HasError() {
		return nil, diagnostics
	}
	c.owner, c.family, c.prior, c.planned, c.generations = b.owner(is.Name.ValueString()), b.site.Owner,
		declare(was), declare(is), numberMap(was.Generations)
	c.kept = c.kept.Unnamed(&config.Shared, types.StringNull())
	c.catchUp(b.site)
	if c.defaults, diagnostics = b.defaults(ctx, c); diagnostics.HasError() {
		return nil, diagnostics
	}
	if c.bound, diagnostics = b.bound(ctx, c); diagnostics.HasError() {
		return nil, diagnostics
	}
	steps := c.steps(numberMap(is.Generations))
	var orders []order
	for mac, s := range steps {
		if s.kind == put || s.kind == again || s.kind == unbind || s.kind == clean {
			orders = append(orders, c.order(mac, s, cmp.Or(config.UserDataWO.ValueString(), config.UserData.ValueString())))
		}
	}
	done, diagnostics := b.send(ctx, orders, is.MaxReimages)
	changed := !diagnostics.HasError() && !is.AdmitWithin.Equal(was.AdmitWithin)
	diagnostics.Append(admitwithin.Open(ctx, b.site, c.expected(changed, steps, done), is.AdmitWithin)...)
	if diagnostics.HasError() {
		return c.partly(was, steps, done), diagnostics
	}
	return c.wholly(is, steps, done), diagnostics
}

// bound finds the new machines that are bound by this provider already: by another resource, from which they move, or
// by an apply that ended early, of which the version that is planned is what it sent.
func (b *bindings) bound(ctx context.Context, c comparison) (map[string]api.Node, diag.Diagnostics) {
	var added []string
	for mac := range c.planned.images {
		if _, there := c.prior.images[mac]; !there {
			added = append(added, mac)
		}
	}
	nodes, diagnostics := b.nodes(ctx, added)
	maps.DeleteFunc(nodes, func(_ string, node api.Node) bool {
		return node.Binding == nil || !c.sibling(node.Binding.Owner)
	})
	return nodes, diagnostics
}

// steps decides as the plan did. New machines get the generations in the plan (missing: not known).
func (c *comparison) steps(generations map[string]int64) map[string]step {
	steps := make(map[string]step, len(c.planned.images))
	for mac := range c.planned.images {
		if _, there := c.prior.images[mac]; there {
			steps[mac] = c.step(mac)
		} else {
			steps[mac] = step{kind: put, generation: generations[mac]}
			if node, found := c.bound[mac]; found && generations[mac] == node.Binding.Generation {
				if s := c.stepNew(mac, node); s.adopts {
					steps[mac] = s
				}
			}
		}
	}
	for mac := range c.prior.images {
		if _, stays := c.planned.images[mac]; !stays {
			steps[mac] = c.stepGone(mac)
		}
	}
	return steps
}

// expected are the machines that are to boot: those whose generation was raised, and if admit_within has changed, all
// that are bound as declared.
func (c *comparison) expected(changed bool, steps map[string]step, done answers) map[string]string {
	macs := map[string]string{}
	for mac := range c.planned.images {
		binding, bound := done.bound[mac]
		_, there := c.prior.images[mac]
		raised := bound && (!there || binding.Generation != c.stored[mac].Generation)
		if raised || changed && (bound || steps[mac].kind == keep) {
			macs[mac] = mac
		}
	}
	return macs
}

// wholly is the result of a complete apply.
func (c *comparison) wholly(is model, steps map[string]step, done answers) *applied {
	generations, others, now := map[string]int64{}, map[string]string{}, map[string]stored{}
	for mac := range c.planned.images {
		e, s := c.stored[mac], steps[mac]
		generations[mac] = s.generation
		switch s.kind {
		case put, again:
			generations[mac] = done.bound[mac].Generation
			e = stored{Generation: done.bound[mac].Generation, Observed: e.Observed, Revision: done.bound[mac].Revision,
				Hostname: e.Hostname}
		case drifted:
			others[mac] = c.exception(mac, s)
		default:
			e.Desired, e.Asked = nil, nil
		}
		now[mac] = e
	}
	is.Generations, is.Drifted = ofNumbers(generations), ofStrings(others)
	is.Wipes = c.settled(is.Wipes, done)
	return &applied{is, now, c.kept}
}

// partly is the earlier state with what was done. The shared attributes stay as they were, so machines that already
// have the new ones count as drifted until the rest is done.
func (c *comparison) partly(was model, steps map[string]step, done answers) *applied {
	images, triggers, generations, now := stringMap(was.Images), stringMap(was.ReimageTriggers), c.generations,
		map[string]stored{}
	for mac, e := range c.stored {
		now[mac] = e
	}
	for mac, s := range steps {
		trigger, has := c.planned.triggers[mac]
		binding, bound := done.bound[mac]
		switch {
		case done.gone[mac]:
			delete(images, mac)
			delete(triggers, mac)
			delete(generations, mac)
			delete(now, mac)
		case bound:
			images[mac], generations[mac] = c.planned.images[mac], binding.Generation
			if delete(triggers, mac); has {
				triggers[mac] = trigger
			}
			now[mac] = c.halfway(mac, binding.Generation, binding.Revision)
		case done.unsure[mac] && has && s.raises:
			e := now[mac]
			e.Asked = &asked{s.generation, trigger}
			now[mac] = e
		}
	}
	was.Images, was.Generations = ofStrings(images), ofNumbers(generations)
	if len(triggers) > 0 || !was.ReimageTriggers.IsNull() {
		was.ReimageTriggers = ofStrings(triggers)
	}
	return &applied{was, now, c.kept}
}

// halfway is the record of a machine that has the planned desired state while the Terraform state has the old
// attributes.
func (c *comparison) halfway(mac string, generation, revision int64) stored {
	e := stored{Generation: generation, Observed: c.stored[mac].Observed, Revision: revision,
		Hostname: c.stored[mac].Hostname}
	is, was := c.planned.stateOf(mac).Named(e.Hostname), c.prior.uniform.With(c.planned.images[mac]).Named(e.Hostname)
	if !is.Equal(was) {
		is.Owner = c.owner
		e.Desired = &is
	}
	return e
}

// diskOf is the selector that a machine is bound with.
func (c *comparison) diskOf(mac string) string {
	if e := c.stored[mac]; e.Desired != nil {
		return e.Desired.Disk
	}
	return c.prior.uniform.Disk
}
