// SPDX-License-Identifier: Apache-2.0

package site

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

// world is what resources of this run plan of nodes and images, for the checks of others. They are planned side by
// side: what a resource needs of one that it does not depend on may come later, so it waits.
type world struct {
	mu     sync.Mutex
	more   chan struct{}            // closed when something is added
	until  time.Time                // until when a resource of the run waits
	nodes  map[string]PlannedNode   // by MAC
	names  map[string]string        // MACs by planned name
	held   map[string]bool          // MACs of nodes that the state has
	freed  map[string]bool          // MACs of nodes that are changed, moved or removed
	images map[string]api.ImageSpec // that are registered
	vague  bool                     // name or MAC of a node is not known yet
}

// PlannedNode is a node that the run declares or changes.
type PlannedNode struct {
	api.NodeSpec
	Created bool
	Known   bool // nothing of it depends on the apply
}

// add changes the world, and wakes up those that wait for that.
func (w *world) add(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	if w.more != nil {
		close(w.more)
		w.more = nil
	}
}

// await reports whether something comes true before no resource of the run waits any more.
func (w *world) await(ctx context.Context, holds func() bool) bool {
	for {
		w.mu.Lock()
		found := holds()
		if w.until.IsZero() && !found {
			w.until = time.Now().Add(refreshTime)
		}
		if w.more == nil {
			w.more = make(chan struct{})
		}
		more, late := w.more, time.NewTimer(time.Until(w.until))
		w.mu.Unlock()
		if found {
			late.Stop()
			return true
		}
		select {
		case <-more:
			late.Stop()
		case <-late.C:
			return false
		case <-ctx.Done():
			late.Stop()
			return false
		}
	}
}

// PlanNode records a planned node. Two of one name, or two new ones with one MAC, are an error.
func (s *Site) PlanNode(one PlannedNode) (diagnostics diag.Diagnostics) {
	w := &s.world
	w.add(func() {
		if one.MAC == "" || one.Name == "" {
			w.vague = true
			return
		}
		if other := put(&w.names, one.Name, one.MAC); other != "" && other != one.MAC {
			diagnostics.AddError(fmt.Sprintf("Two nodes are called %s", one.Name),
				fmt.Sprintf("Those with MAC %s and %s. A name belongs to one node.", other, one.MAC))
			return
		}
		if other, found := w.nodes[one.MAC]; found && one.Created && other.Created {
			diagnostics.AddError(fmt.Sprintf("Two nodes have MAC %s", one.MAC),
				fmt.Sprintf("%s and %s. A MAC belongs to one node.", other.Name, one.Name))
			return
		}
		if w.nodes == nil {
			w.nodes = map[string]PlannedNode{}
		}
		w.nodes[one.MAC] = one
	})
	return diagnostics
}

// HoldNode records that the state has a node of this MAC.
func (s *Site) HoldNode(mac string) { s.world.add(func() { note(&s.world.held, mac) }) }

// HeldNode reports whether HoldNode was called.
func (s *Site) HeldNode(mac string) bool {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.world.held[mac]
}

// FreeNode records that the run changes, moves or removes a node, so that its name or MACs may be free for another.
func (s *Site) FreeNode(mac string) { s.world.add(func() { note(&s.world.freed, mac) }) }

// find returns a planned node by name or MAC.
func (w *world) find(reference string) (PlannedNode, bool) {
	mac, err := api.ParseMAC(reference)
	if err != nil {
		mac = w.names[reference]
	}
	one, found := w.nodes[mac]
	return one, found
}

// PlannedNode returns what PlanNode recorded, by name or MAC.
func (s *Site) PlannedNode(reference string) (PlannedNode, bool) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.world.find(reference)
}

// Declared returns the node that the run declares under this name or MAC. If it declares none, that is an error; a
// node of which the name is known later may be the one, and then nothing is known of it.
func (s *Site) Declared(ctx context.Context, reference string) (PlannedNode, diag.Diagnostics) {
	if s.world.await(ctx, func() bool {
		_, found := s.world.find(reference)
		return found || s.world.vague
	}) {
		one, _ := s.PlannedNode(reference)
		return one, nil
	}
	return PlannedNode{}, diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("Node %s is not declared", reference),
		"sledd has no declaration of it, and neither has this plan. Declare it with sled_node, and take node from that "+
			"resource, so that Terraform creates it first. If another provider block declares it, apply that first (-target).")}
}

// PlanImage records an image that is registered. What is only measured by the apply is made up.
func (s *Site) PlanImage(spec api.ImageSpec) {
	spec.Digest = cmp.Or(spec.Digest, fmt.Sprintf("sha256:%064d", 0))
	spec.Bytes, spec.FileBytes = cmp.Or(spec.Bytes, 1<<20), cmp.Or(spec.FileBytes, 1<<20)
	s.world.add(func() {
		if s.world.images == nil {
			s.world.images = map[string]api.ImageSpec{}
		}
		s.world.images[spec.Name] = spec
	})
}

// assumed is what the run declares of what bindings need; nil: nothing. Not known: a part of it depends on the apply.
func (s *Site) assumed(items []api.BulkBinding) (assume *api.Assumed, known bool) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	var all api.Assumed
	for _, item := range items {
		if node, found := s.world.nodes[item.Node]; found {
			if !node.Known {
				return nil, false
			}
			all.Nodes = append(all.Nodes, node.NodeSpec)
		}
		if image, found := s.world.images[item.Image]; found {
			all.Images = append(all.Images, image)
		}
	}
	if len(all.Nodes)+len(all.Images) == 0 {
		return nil, true
	}
	return &all, true
}
