// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// single is up to how many nodes are read one by one; for more a list of all nodes is faster.
const single = 16

// work is what an apply does with the machines of a sled_nodes, by MAC.
type work struct {
	prior, planned map[string]api.NodeSpec
	exchanged      map[string]string // MAC before, by MAC after
	put            []string          // that are declared or changed
	removed        []string
}

// plan compares; drifted are machines whose stored declaration is not that of the state.
func compare(prior, planned map[string]api.NodeSpec, drifted types.Map) work {
	w := work{prior: prior, planned: planned, exchanged: map[string]string{}}
	names := map[string]string{}
	for address, spec := range prior {
		if _, stays := planned[address]; !stays {
			names[spec.Name] = address
		}
	}
	for address, spec := range planned {
		was, there := prior[address]
		if from, found := names[spec.Name]; found && !there {
			w.exchanged[address] = from
			delete(names, spec.Name)
			was = prior[from]
		}
		_, drift := drifted.Elements()[address]
		if !there || drift || len(differences(spec, was)) > 0 {
			w.put = append(w.put, address)
		}
	}
	w.removed = slices.Sorted(maps.Values(names))
	slices.Sort(w.put)
	return w
}

// ModifyPlan checks by dry runs what the apply would declare.
func (n *nodes) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if n.site == nil {
		return
	}
	var plan, state manyModel
	if !request.State.Raw.IsNull() {
		response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	}
	if request.Plan.Raw.IsNull() {
		n.frees(compare(state.specs(), nil, state.Drifted))
		return
	}
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	stored := n.declarations(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	plan.Drifted = types.MapUnknown(types.StringType)
	if !plan.known() {
		response.Diagnostics.Append(n.site.PlanNode(site.PlannedNode{})...)
	} else {
		plan.Drifted = mapFrom(nil)
		response.Diagnostics.Append(n.check(ctx, compare(state.specs(), plan.specs(), state.Drifted), stored)...)
	}
	response.Diagnostics.Append(response.Plan.Set(ctx, &plan)...)
}

// frees tells the nodes of the run which machines get another declaration, or none.
func (n *nodes) frees(w work) {
	for address, spec := range w.prior {
		if _, stays := w.planned[address]; !stays || spec.Name != w.planned[address].Name {
			n.site.FreeNode(address)
		}
	}
}

// check compares with what is declared already and with the other resources of the run, and has sledd check the rest.
func (n *nodes) check(ctx context.Context, w work, stored map[string]declaration) diag.Diagnostics {
	var added []string
	for _, address := range w.put {
		if _, there := w.prior[address]; !there && w.exchanged[address] == "" {
			added = append(added, address)
		}
	}
	n.frees(w)
	found, diagnostics := n.look(ctx, added)
	if diagnostics.HasError() {
		return diagnostics
	}
	var others, adopted []string
	for address, node := range found {
		if !node.Declared {
			continue
		}
		adopted = append(adopted, address)
		if differ := differences(w.planned[address], node.NodeSpec); len(differ) > 0 {
			others = append(others, fmt.Sprintf("%s: other %s", title(node.Name, address), strings.Join(differ, ", ")))
		}
	}
	if slices.Sort(others); len(others) > 0 {
		diagnostics.AddError("Machines are declared already, with other values", textlist.Lines(others)+
			"\n\nDeclare them here as they are, to take them over, or manage them where they are declared.")
		return diagnostics
	}
	var failed failures
	site.Each(w.put, func(address string) {
		if _, there := w.prior[address]; there || w.exchanged[address] != "" || !slices.Contains(adopted, address) {
			failed.add(address, n.checkOne(ctx, w, address, stored))
		}
	})
	return failed.report("Machines cannot be declared like this")
}

func (n *nodes) checkOne(ctx context.Context, w work, address string, stored map[string]declaration) diag.Diagnostics {
	spec, from := w.planned[address], w.exchanged[address]
	_, there := w.prior[address]
	spec.MACs = stored[cmp.Or(from, address)].MACs
	diagnostics := n.site.PlanNode(site.PlannedNode{NodeSpec: spec, Created: !there && from == "", Known: true})
	if from != "" {
		m := model{MAC: mac.Of(address), Name: types.StringValue(spec.Name)}
		_, more := (&node{n.site}).exchange(ctx, from, &m, stored[from].Revision, api.DryRun())
		diagnostics.Append(more...)
		return diagnostics
	}
	diagnostics.Append(n.site.CheckNode(ctx, "declare "+title(spec.Name, address), spec, nil)...)
	return diagnostics
}

// look returns those of some machines that sledd knows.
func (n *nodes) look(ctx context.Context, macs []string) (map[string]api.Node, diag.Diagnostics) {
	found := map[string]api.Node{}
	if len(macs) <= single {
		for _, address := range macs {
			stored, there, diagnostics := read(ctx, n.site, address, "node "+address)
			if diagnostics.HasError() {
				return nil, diagnostics
			}
			if there {
				found[address] = stored
			}
		}
		return found, nil
	}
	wanted := make(map[string]bool, len(macs))
	for _, address := range macs {
		wanted[address] = true
	}
	all, diagnostics := filter{}.list(ctx, n.site, 0)
	for _, stored := range all {
		for _, address := range append(stored.MACs, stored.MAC) {
			if wanted[address] {
				found[address] = stored
			}
		}
	}
	return found, diagnostics
}

// failures of single machines, for one error.
type failures struct {
	mu    sync.Mutex
	lines []string
}

func (f *failures) add(address string, diagnostics diag.Diagnostics) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range diagnostics.Errors() {
		detail, _, _ := strings.Cut(one.Detail(), "\n\n")
		f.lines = append(f.lines, fmt.Sprintf("%s: %s: %s", address, one.Summary(), detail))
	}
}

// report is one error with the first of them.
func (f *failures) report(summary string) diag.Diagnostics {
	if len(f.lines) == 0 {
		return nil
	}
	slices.Sort(f.lines)
	return diag.Diagnostics{diag.NewErrorDiagnostic(summary, textlist.Lines(f.lines))}
}
