// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// with is the declaration of a node with further MACs, by number.
func with(i int, further ...int) api.NodeSpec {
	declared := spec(i)
	for _, one := range further {
		declared.MACs = append(declared.MACs, address(one))
	}
	return declared
}

func (r *rack) put(declared api.NodeSpec) error {
	_, err := r.PutNode(r.Context(), declared.Name, declared, nodetx.Wanted{})
	return err
}

// further are the MACs that are stored as further ones, with their nodes: "4>1".
func (r *rack) further() string {
	r.Helper()
	snapshot, err := r.Store.Read(r.Context(), store.Prefix(key.MACs))
	if err != nil {
		r.Fatal(err)
	}
	var all []string
	for _, kv := range snapshot.Results[0] {
		all = append(all, kv.Key[len(kv.Key)-1:]+">"+string(kv.Value[len(kv.Value)-1:]))
	}
	return strings.Join(all, " ")
}

func TestANodeIsFoundByAnyOfItsMACs(t *testing.T) {
	r := newRack(t)
	if err := r.put(with(1, 4, 5)); err != nil {
		t.Fatal(err)
	}
	for _, reference := range []string{"n1", address(1), address(4), "52-54-00-77-00-05"} {
		if node, err := r.Fleet.Node(t.Context(), reference); err != nil || node.MAC != address(1) {
			t.Errorf("%s: %+v, %v", reference, node, err)
		}
	}
	r.register("d12")
	change := binding(1, "d12")
	change.Node = address(4)
	if bound := r.bind(change); bound.MAC != address(1) {
		t.Errorf("%+v", bound)
	}
	items := []api.BulkBinding{{BindingSpec: api.BindingSpec{Node: address(5), Image: "d12"}},
		{BindingSpec: api.BindingSpec{Node: "n1", Image: "d12"}}}
	_, err := r.PutBindings(t.Context(), api.BulkBindings{Items: items}, false, false)
	r.refused("two MACs of one node in one request", err, refusal.Invalid, "some items are at fault")
	list, err := r.PutBindings(t.Context(), api.BulkBindings{Items: items[:1]}, false, false)
	if err != nil || list.Items[0].MAC != address(1) {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := r.Nodes(t.Context(), fleet.Filter{Limit: 10}); err != nil || len(list.Items) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAMACBelongsToOneNode(t *testing.T) {
	r := newRack(t)
	r.declare(2)
	if err := r.put(with(1, 4)); err != nil {
		t.Fatal(err)
	}
	r.refused("the MAC that names another", r.put(with(1, 4, 2)), refusal.Conflict,
		address(2)+" belongs to node n2 already")
	r.refused("a further MAC of another", r.put(with(2, 4)), refusal.Conflict, address(4)+" belongs to node n1 already")
	r.refused("a node named by a further MAC", r.put(with(4)), refusal.Conflict, address(4)+" belongs to node n1 already")
	r.refused("its own MAC", r.put(with(1, 1)), refusal.Invalid, "is the mac of node n1")
	r.refused("one twice", r.put(with(1, 5, 5)), refusal.Invalid, "listed twice")
	bad := with(1)
	for text, says := range map[string]string{"52-54-00-77-00-05": "lower case with colons", "ff:ff:ff:ff:ff:ff": "group",
		"x": "is not a MAC"} {
		bad.MACs = []string{text}
		r.refused(text, r.put(bad), refusal.Invalid, says)
	}
	if got := r.further(); got != "4>1" {
		t.Errorf("stored: %s", got)
	}
}

func TestAMACThatIsRemovedIsFree(t *testing.T) {
	r := newRack(t)
	r.declare(2)
	for _, declared := range []api.NodeSpec{with(1, 4, 5), with(1, 5), with(2, 4)} {
		if err := r.put(declared); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.further(); got != "4>2 5>1" {
		t.Errorf("stored: %s", got)
	}
	if err := r.DeleteNode(t.Context(), "n1", nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	if got := r.further(); got != "4>2" {
		t.Errorf("stored: %s", got)
	}
	if err := r.put(with(5)); err != nil {
		t.Error(err)
	}
}

func TestAMachineThatWasDiscoveredByAFurtherMACIsThatNode(t *testing.T) {
	r := newRack(t)
	r.observe(4, api.Status{Phase: api.Discovered, Seen: now})
	if err := r.put(with(1, 4)); err != nil {
		t.Fatal(err)
	}
	if list, err := r.Nodes(t.Context(), fleet.Filter{Limit: 10}); err != nil || len(list.Items) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAReplacedNodeKeepsItsFurtherMACs(t *testing.T) {
	r := newRack(t)
	r.declare(2)
	if err := r.put(with(1, 4, 5)); err != nil {
		t.Fatal(err)
	}
	node, err := r.replace("n1", 9)
	if err != nil || !slices.Equal(node.MACs, []string{address(4), address(5)}) || r.further() != "4>9 5>9" {
		t.Errorf("another MAC: %+v, %s, %v", node, r.further(), err)
	}
	node, err = r.replace("n1", 4)
	if err != nil || node.MAC != address(4) || !slices.Equal(node.MACs, []string{address(5)}) || r.further() != "5>4" {
		t.Errorf("one of its own: %+v, %s, %v", node, r.further(), err)
	}
	_, err = r.replace("n2", 5)
	r.refused("one of another", err, refusal.Conflict, "belongs to node n1")
}
