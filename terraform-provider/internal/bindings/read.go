// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// Read reads what is bound under the owner, and machines of the state that no longer are. The images in the state stay
// as declared; drifted has the differences.
func (b *bindings) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	var m model
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	// whatever comes
	response.Diagnostics.Append(response.Identity.Set(ctx, identity{m.Name.ValueString()})...)
	if b.site == nil { // the provider is not configured yet
		return
	}
	was := b.getStored(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	owner := b.owner(m.Name.ValueString())
	nodes, diagnostics := b.ours(ctx, owner)
	response.Diagnostics.Append(diagnostics...)
	importing := m.Images.IsNull()
	if importing && len(nodes) == 0 && !response.Diagnostics.HasError() {
		response.Diagnostics.AddError("Nothing is bound under this name", fmt.Sprintf("No binding belongs to %s, so there "+
			"is nothing to import. Declare the bindings and apply, or import another name.", owner))
	}
	if response.Diagnostics.HasError() {
		return
	}
	if importing {
		m = empty(m.Name)
		m.Take(usual(nodes))
		setKept(ctx, response.Private, desired.Found(usual(nodes)), &response.Diagnostics)
		was = hostnames(nodes)
	}
	declared := declare(m)
	var missing []string
	for mac := range declared.images {
		if _, found := nodes[mac]; !found {
			missing = append(missing, mac)
		}
	}
	others, diagnostics := b.nodes(ctx, missing)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	found := look(owner, declared, numberMap(m.Generations), was, nodes, others)
	found.missed(was, declared, numberMap(m.Generations), others)
	found.remember(was)
	m.Images, m.Generations, m.Drifted = ofStrings(found.images), ofNumbers(found.generations), ofStrings(found.drifted)
	m.Wipes = types.MapNull(types.StringType) // a wipe is of a plan
	b.setStored(ctx, response.Private, found.stored, &response.Diagnostics)
	response.Diagnostics.Append(response.State.Set(ctx, m)...)
}

// sight is what is bound, beside what was declared.
type sight struct {
	images      map[string]string
	generations map[string]int64
	drifted     map[string]string
	stored      map[string]stored
	was         map[string]stored // at the last refresh or apply
}

// version stands for the user data of a binding: a partial apply may have sent another than the state has.
func (s *sight) version(mac string, declared desired.State, revision int64) string {
	if e := s.was[mac]; e.Desired != nil && e.Revision == revision && e.Desired.Version() != "" {
		return e.Desired.Version()
	}
	return declared.Version()
}

// look compares. A machine of ours that was not declared is added: an interrupted apply has bound it. One that is no
// longer bound is left to missed. One whose binding lost its owner is dropped, so that a plan adds it again.
func look(owner string, d declared, generations map[string]int64, was map[string]stored,
	ours, others map[string]api.Node) sight {
	s := sight{map[string]string{}, map[string]int64{}, map[string]string{}, map[string]stored{}, was}
	for mac, node := range ours {
		if _, found := d.images[mac]; !found {
			s.see(mac, node, d.uniform.With(node.Binding.Image), owner, node.Binding.Generation)
			continue
		}
		s.see(mac, node, d.stateOf(mac), owner, generations[mac])
	}
	for mac := range d.images {
		node, found := others[mac]
		if !found || node.Binding == nil || node.Binding.Owner == "" &&
			d.stateOf(mac).Named(was[mac].Hostname).Same(desired.Of(*node.Binding).As(d.uniform.Version())) {
			continue
		}
		s.see(mac, node, d.stateOf(mac), owner, generations[mac])
	}
	return s
}

// missed keeps what somebody took away, and what sledd does not know any more: a plan that adds it would wipe it.
func (s *sight) missed(was map[string]stored, d declared, generations map[string]int64, others map[string]api.Node) {
	for mac, image := range d.images {
		node := others[mac]
		e, known := was[mac]
		if _, seen := s.stored[mac]; seen || node.Binding != nil || !known {
			continue
		}
		e.Absent, e.Revision, e.Desired = true, 0, nil
		if node.MAC != "" {
			e.Observed = node.Status.Generation
		}
		s.images[mac], s.generations[mac], s.drifted[mac], s.stored[mac] = image, generations[mac], unbound, e
	}
}

// see records one machine; generation is the one that it had when it was as declared.
func (s *sight) see(mac string, node api.Node, declared desired.State, owner string, generation int64) {
	there := desired.Of(*node.Binding).As(s.version(mac, declared, node.Binding.Revision))
	there.Node = ""
	e := stored{Generation: node.Binding.Generation, Observed: node.Status.Generation, Revision: node.Binding.Revision,
		Hostname: s.was[mac].Hostname}
	declared.Hostname = e.Hostname
	s.images[mac], s.generations[mac] = declared.Image, node.Binding.Generation
	if there.Owner != owner || !declared.Same(there) {
		s.drifted[mac] = there.Image
		s.generations[mac] = generation
	}
	if there.Owner != owner || !declared.Same(there) || !declared.SameMethod(there) {
		e.Desired = &there
	}
	s.stored[mac] = e
}

// remember keeps requests whose answer was lost.
func (s *sight) remember(was map[string]stored) {
	for mac, e := range s.stored {
		if e.Asked = was[mac].Asked; e.Asked != nil {
			s.stored[mac] = e
		}
	}
}

// hostnames are those that an import finds.
func hostnames(nodes map[string]api.Node) map[string]stored {
	all := map[string]stored{}
	for mac, node := range nodes {
		if node.Binding.Hostname != "" {
			all[mac] = stored{Hostname: node.Binding.Hostname}
		}
	}
	return all
}

// usual is the desired state, apart from the image, that most of the nodes have: for an import.
func usual(nodes map[string]api.Node) desired.State {
	var best desired.State
	count, most := map[string]int{}, 0
	for _, mac := range sortedKeys(nodes) {
		w := desired.Of(*nodes[mac].Binding).With("")
		w.Node, w.Owner, w.Hostname, w.Capture = "", "", "", ""
		key, err := json.Marshal(w)
		if err != nil {
			continue // it came as JSON
		}
		if count[string(key)]++; count[string(key)] > most {
			most, best = count[string(key)], w
		}
	}
	return best
}
