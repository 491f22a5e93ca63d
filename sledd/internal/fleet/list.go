// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// Filter chooses nodes or bindings of a list. Empty fields choose all.
type Filter struct {
	Labels map[string]string // all must be there
	Phases []api.Phase       // one of them
	Text   string            // a part of the name, of a MAC or of the address
	Image  string            // bound, or for an unbound node the one on its disk
	Owner  string            // of the binding
	Only   map[string]bool   // by MAC or name
	Limit  int
	After  string // MAC; of a sorted list with the value
	Sort   string // of nodes; empty: by MAC

	Overdue   bool   // stands still longer than its phase allows
	Satisfied string // "true" or "false": bound, and the node has what is requested, or does not
}

func (f Filter) takes(tx *nodetx.Tx) bool {
	if f.Only != nil && !f.lists(tx) {
		return false
	}
	if len(f.Phases) > 0 && !slices.Contains(f.Phases, tx.Status().Phase) || !f.names(tx) {
		return false
	}
	image := tx.Status().Image
	if tx.Binding() != nil {
		image = tx.Binding().Image
	}
	if f.Image != "" && image != f.Image {
		return false
	}
	if f.Owner != "" && (tx.Binding() == nil || tx.Binding().Owner != f.Owner) {
		return false
	}
	if f.Satisfied != "" && (tx.Binding() == nil || tx.Satisfied() != (f.Satisfied == "true")) {
		return false
	}
	if f.Overdue && tx.Status().OverdueAt(tx.Now) == 0 {
		return false
	}
	for name, value := range f.Labels {
		if tx.Node() == nil || tx.Node().Labels[name] != value {
			return false
		}
	}
	return true
}

// names reports whether a name or an address of the node has the text.
func (f Filter) names(tx *nodetx.Tx) bool {
	has := func(name string) bool { return strings.Contains(name, strings.ToLower(f.Text)) }
	return f.Text == "" || has(tx.MAC) || has(tx.Status().Address.String()) ||
		tx.Node() != nil && (has(tx.Node().Name) || slices.ContainsFunc(tx.Node().MACs, has))
}

// lists reports whether it is one of those listed.
func (f Filter) lists(tx *nodetx.Tx) bool {
	return f.Only[tx.MAC] || tx.Node() != nil && (f.Only[tx.Node().Name] ||
		slices.ContainsFunc(tx.Node().MACs, func(address string) bool { return f.Only[address] }))
}

// Nodes returns a page of nodes, declared or only seen.
func (f *Fleet) Nodes(ctx context.Context, filter Filter) (api.NodeList, error) {
	if filter.Sort != "" {
		return f.sortedNodes(ctx, filter)
	}
	list := api.NodeList{Items: []api.Node{}}
	after, err := filter.place()
	if err != nil {
		return list, err
	}
	next, err := f.Walk(ctx, after.mac, int64(filter.Limit), func(tx *nodetx.Tx) bool {
		if tx.Known() && filter.takes(tx) {
			list.Items = append(list.Items, f.shownNode(tx))
		}
		return len(list.Items) < filter.Limit
	})
	list.Next = next
	return list, err
}

// Bindings returns a page of bindings, by MAC.
func (f *Fleet) Bindings(ctx context.Context, filter Filter) (api.BindingList, error) {
	list := api.BindingList{Items: []api.Binding{}}
	next, err := f.Walk(ctx, filter.After, int64(filter.Limit), func(tx *nodetx.Tx) bool {
		if tx.Binding() != nil && filter.takes(tx) {
			list.Items = append(list.Items, tx.Binding().Public(*tx.Status()))
		}
		return len(list.Items) < filter.Limit
	})
	list.Next = next
	return list, err
}
