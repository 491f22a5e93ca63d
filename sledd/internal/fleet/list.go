// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Filter chooses nodes or bindings of a list. Empty fields choose all.
type Filter struct {
	Labels map[string]string // all must be there
	Phase  api.Phase
	Image  string // bound, or for an unbound node the one on its disk
	Owner  string // of the binding
	Limit  int
	After  string // MAC
}

func (f Filter) takes(v *view) bool {
	if f.Phase != "" && v.status.Phase != f.Phase {
		return false
	}
	image := v.status.Image
	if v.binding != nil {
		image = v.binding.Image
	}
	if f.Image != "" && image != f.Image {
		return false
	}
	if f.Owner != "" && (v.binding == nil || v.binding.Owner != f.Owner) {
		return false
	}
	for name, value := range f.Labels {
		if v.node == nil || v.node.Labels[name] != value {
			return false
		}
	}
	return true
}

// Nodes gives a page of nodes, declared or only seen, by MAC.
func (f *Fleet) Nodes(ctx context.Context, filter Filter) (api.NodeList, error) {
	list := api.NodeList{Items: []api.Node{}}
	next, err := f.walk(ctx, filter, func(v *view) bool {
		if v.known() && filter.takes(v) {
			list.Items = append(list.Items, v.public())
		}
		return len(list.Items) < filter.Limit
	})
	list.Next = next
	return list, err
}

// Bindings gives a page of bindings, by MAC.
func (f *Fleet) Bindings(ctx context.Context, filter Filter) (api.BindingList, error) {
	list := api.BindingList{Items: []api.Binding{}}
	next, err := f.walk(ctx, filter, func(v *view) bool {
		if v.binding != nil && filter.takes(v) {
			list.Items = append(list.Items, v.binding.public(v.status))
		}
		return len(list.Items) < filter.Limit
	})
	list.Next = next
	return list, err
}

// walk shows all MACs that have a node, a status, a binding or a rescue, in order, until see has enough; then it gives the MAC to go on after.
func (f *Fleet) walk(ctx context.Context, filter Filter, see func(v *view) bool) (string, error) {
	after := filter.After
	for {
		views, more, err := f.page(ctx, after, int64(filter.Limit))
		if err != nil {
			return "", err
		}
		for i, v := range views {
			after = v.mac
			if !see(v) && (more || i < len(views)-1) {
				return after, nil
			}
		}
		if !more {
			return "", nil
		}
	}
}

// page reads the next limit MACs after one, at one revision. Each of the first limit keys of the union is among the first limit
// keys of the lists it is in, so bounded reads are enough.
func (f *Fleet) page(ctx context.Context, after string, limit int64) ([]*view, bool, error) {
	kinds := map[string]int{key.Nodes: iNode, key.Status: iStatus, key.Bindings: iBinding, key.Rescues: iRescue}
	prefixes := []string{key.Nodes, key.Status, key.Bindings, key.Rescues}
	queries := make([]store.Query, len(prefixes))
	for i, prefix := range prefixes {
		queries[i] = store.Query{Key: prefix + after + "\x00", To: store.PrefixEnd(prefix), Limit: limit + 1}
	}
	snapshot, err := f.Store.Read(ctx, queries...)
	if err != nil {
		return nil, false, err
	}
	found := map[string]*view{}
	for i, prefix := range prefixes {
		for _, kv := range snapshot.Results[i] {
			address := strings.TrimPrefix(kv.Key, prefix)
			if found[address] == nil {
				found[address] = f.view(address, snapshot.Revision)
			}
			found[address].read[kinds[prefix]] = kv
			if err := found[address].take(kinds[prefix], kv); err != nil {
				return nil, false, err
			}
		}
	}
	views := make([]*view, 0, len(found))
	for _, v := range found {
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b *view) int { return strings.Compare(a.mac, b.mac) })
	if int64(len(views)) > limit {
		return views[:limit], true, nil
	}
	return views, false, nil
}
