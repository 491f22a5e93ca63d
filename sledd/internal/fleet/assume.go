// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// mayAssume refuses a real request with objects that do not exist.
func (f *Fleet) mayAssume(a *api.Assumed) error {
	if a != nil && !f.dry {
		return refusal.Value("body.assume", nil, errors.New("only a dry run assumes objects: declare them, or add dry_run"))
	}
	return nil
}

// assumeNames adds those of assumed nodes to the MACs by name.
func assumeNames(a *api.Assumed, names map[string]string) {
	if a == nil {
		return
	}
	for _, node := range a.Nodes {
		names[node.Name] = node.MAC
	}
}

// assume records what the request takes for declared.
func (b *bulk) assume(a *api.Assumed) {
	if a == nil {
		return
	}
	b.nodes = map[string]*api.NodeSpec{}
	for i, node := range a.Nodes {
		b.nodes[node.MAC] = &a.Nodes[i]
	}
	for _, image := range a.Images {
		b.images[image.Name] = &api.Image{ImageSpec: image}
	}
}

func (b *bulk) assumed(tx *nodetx.Tx) *nodetx.Tx {
	if node, found := b.nodes[tx.MAC]; found {
		tx.Assume(node)
	}
	return tx
}
