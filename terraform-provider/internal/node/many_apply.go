// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// Create declares all machines. When only some could be declared there is no state: the next apply takes over what is
// declared. A tainted state would have the machines deleted first.
func (n *nodes) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var m manyModel
	if response.Diagnostics.Append(request.Plan.Get(ctx, &m)...); response.Diagnostics.HasError() {
		return
	}
	d := done{stored: map[string]declaration{}}
	n.apply(ctx, compare(nil, m.specs(), types.MapNull(types.StringType)), &d)
	response.Diagnostics.Append(d.failed.report("Some machines could not be declared")...)
	if response.Diagnostics.HasError() {
		return
	}
	m.Drifted = mapFrom(nil)
	response.Diagnostics.Append(response.State.Set(ctx, &m)...)
	response.Diagnostics.Append(n.keepAll(ctx, response.Private, d.stored)...)
}

// Update sends what differs. When only a part could be sent, the state has the machines that are declared now; those
// that have the new values already count as drifted until the rest is done.
func (n *nodes) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var plan, state manyModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	d := done{stored: n.declarations(ctx, request.Private, &response.Diagnostics)}
	if response.Diagnostics.HasError() {
		return
	}
	n.apply(ctx, compare(state.specs(), plan.specs(), state.Drifted), &d)
	response.Diagnostics.Append(d.failed.report("Some machines could not be declared or removed")...)
	plan.Drifted = mapFrom(nil)
	if response.Diagnostics.HasError() {
		was, is := stringsOf(state.Names), stringsOf(plan.Names)
		names := map[string]string{}
		for address := range d.stored {
			if names[address] = is[address]; names[address] == "" {
				names[address] = was[address]
			}
		}
		plan = state.with(names)
	}
	response.Diagnostics.Append(response.State.Set(ctx, &plan)...)
	response.Diagnostics.Append(n.keepAll(ctx, response.Private, d.stored)...)
}

// Delete deletes the machines that are still as they were. A bound one stays, and is an error.
func (n *nodes) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var m manyModel
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	d := done{stored: n.declarations(ctx, request.Private, &response.Diagnostics)}
	if response.Diagnostics.HasError() {
		return
	}
	n.apply(ctx, compare(m.specs(), nil, m.Drifted), &d)
	response.Diagnostics.Append(d.failed.report("Some machines could not be removed")...)
}

// done is the result of an apply, which may be partial.
type done struct {
	failed failures

	mu     sync.Mutex
	stored map[string]declaration
}

func (d *done) set(address string, node api.Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stored[address] = declaration{Revision: node.Revision, MACs: node.MACs}
}

func (d *done) drop(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.stored, address)
}

func (d *done) get(address string) (declaration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, there := d.stored[address]
	return found, there
}

// apply removes first: a name may move on to another machine.
func (n *nodes) apply(ctx context.Context, w work, d *done) {
	site.Each(w.removed, func(address string) {
		if was, there := d.get(address); there {
			diagnostics := n.remove(ctx, address, w.prior[address].Name, was.Revision)
			if d.failed.add(address, diagnostics); !diagnostics.HasError() {
				d.drop(address)
			}
		}
	})
	site.Each(slices.Sorted(maps.Keys(w.exchanged)), func(address string) {
		from := w.exchanged[address]
		was, _ := d.get(from)
		m := model{MAC: mac.Of(address), Name: types.StringValue(w.planned[address].Name)}
		moved, diagnostics := (&node{n.site}).exchange(ctx, from, &m, was.Revision)
		if d.failed.add(address, diagnostics); !diagnostics.HasError() {
			d.drop(from)
			d.set(address, moved)
		}
	})
	site.Each(w.put, func(address string) {
		if _, there := d.get(address); there || w.exchanged[address] == "" {
			d.failed.add(address, n.declare(ctx, w.planned[address], d))
		}
	})
}

// declare stores a declaration over the one that the plan was made for. A new machine that is declared already is taken
// over if that is the same.
func (n *nodes) declare(ctx context.Context, spec api.NodeSpec, d *done) diag.Diagnostics {
	was, there := d.get(spec.MAC)
	condition := api.IfAbsent()
	if there {
		spec.MACs, condition = was.MACs, api.IfRevision(was.Revision)
	}
	var stored api.Node
	diagnostics := n.site.Call(ctx, "declare "+title(spec.Name, spec.MAC),
		func(ctx context.Context, client *api.Client) (err error) {
			stored, err = client.PutNode(ctx, spec, condition)
			if !there && api.StatusOf(err) == http.StatusPreconditionFailed {
				if stored, err = client.Node(ctx, spec.MAC); err == nil {
					err = same(spec, stored)
				}
			}
			return about(stored, spec.MAC, err)
		})
	if !diagnostics.HasError() {
		d.set(spec.MAC, stored)
	}
	return diagnostics
}

func same(spec api.NodeSpec, stored api.Node) error {
	if differ := differences(spec, stored.NodeSpec); len(differ) > 0 {
		return fmt.Errorf("it is declared already, with other %s", strings.Join(differ, ", "))
	}
	return nil
}

// remove deletes a node, and before it a finished wipe.
func (n *nodes) remove(ctx context.Context, address, name string, revision int64) diag.Diagnostics {
	m := model{MAC: mac.Of(address), Name: types.StringValue(name)}
	stored, found, diagnostics := read(ctx, n.site, address, m.String())
	if diagnostics.HasError() || !found || !stored.Declared {
		return diagnostics
	}
	diagnostics.Append((&node{n.site}).settle(ctx, &m, stored.Binding, stored.Status)...)
	if diagnostics.HasError() {
		return diagnostics
	}
	return n.site.Call(ctx, "delete "+m.String(), func(ctx context.Context, client *api.Client) error {
		return client.DeleteNode(ctx, address, api.IfRevision(revision)) //nolint:wrapcheck // Call explains it
	})
}

// Read keeps the names as declared and lists in drifted what somebody else changed. What is gone is dropped, so that
// the next plan declares it again.
func (n *nodes) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	var m manyModel
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	if n.site == nil || response.Diagnostics.HasError() { // the provider is not configured yet
		return
	}
	stored := n.declarations(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	specs, names, drifted := m.specs(), stringsOf(m.Names), map[string]string{}
	found, diagnostics := n.look(ctx, slices.Sorted(maps.Keys(specs)))
	if response.Diagnostics.Append(diagnostics...); diagnostics.HasError() {
		return
	}
	for address, spec := range specs {
		node := found[address]
		if !node.Declared || node.MAC != address {
			delete(names, address)
			delete(stored, address)
			continue
		}
		if differ := differences(spec, node.NodeSpec); len(differ) > 0 {
			drifted[address] = strings.Join(differ, ", ")
		}
		stored[address] = declaration{Revision: node.Revision, MACs: node.MACs}
	}
	m.Names, m.Drifted = mapFrom(names), mapFrom(drifted)
	response.Diagnostics.Append(response.State.Set(ctx, &m)...)
	response.Diagnostics.Append(n.keepAll(ctx, response.Private, stored)...)
}
