// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

// single is up to how many nodes are read one by one; for more a list of all nodes is faster.
const single = 16

// ours returns the nodes whose bindings have this owner, by MAC.
func (b *bindings) ours(ctx context.Context, owner string) (map[string]api.Node, diag.Diagnostics) {
	nodes := map[string]api.Node{}
	diagnostics := b.site.CallBulk(ctx, "list the nodes bound by "+owner,
		func(ctx context.Context, client *api.Client) error {
			for node, err := range client.Nodes(ctx, api.Filter{Owner: owner}) {
				if err != nil {
					return err //nolint:wrapcheck // the site explains it
				}
				if node.Binding != nil && node.Binding.Owner == owner {
					nodes[node.MAC] = node
				}
			}
			return nil
		})
	return nodes, diagnostics
}

// defaults reads what decides about effects where images or disks are declared differently than before.
func (b *bindings) defaults(ctx context.Context, c comparison) (defaults, diag.Diagnostics) {
	var d defaults
	var diagnostics diag.Diagnostics
	otherDisk, otherImage := c.prior.uniform.Disk != c.planned.uniform.Disk, false
	for mac, image := range c.prior.images {
		planned, stays := c.planned.images[mac]
		otherImage = otherImage || stays && planned != image
		if e := c.stored[mac]; e.Desired != nil {
			otherImage = otherImage || e.Desired.Image != image
			otherDisk = otherDisk || e.Desired.Disk != c.planned.uniform.Disk
		}
	}
	if otherImage {
		d.digests, diagnostics = b.site.AllDigests(ctx)
	}
	if otherDisk && len(c.prior.images) > 0 && !diagnostics.HasError() {
		d.nodes, diagnostics = b.nodes(ctx, sortedKeys(c.prior.images))
	}
	return d, diagnostics
}

// nodes returns those of some MACs that sledd knows.
func (b *bindings) nodes(ctx context.Context, macs []string) (map[string]api.Node, diag.Diagnostics) {
	if len(macs) > single {
		return b.listed(ctx, macs)
	}
	nodes := make(map[string]api.Node, len(macs))
	for _, mac := range macs {
		diagnostics := b.site.Call(ctx, "read node "+mac, func(ctx context.Context, client *api.Client) error {
			node, err := client.Node(ctx, mac)
			if api.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err //nolint:wrapcheck // the site explains it
			}
			nodes[mac] = node
			return further(node, mac)
		})
		if diagnostics.HasError() {
			return nil, diagnostics
		}
	}
	return nodes, nil
}

func (b *bindings) listed(ctx context.Context, macs []string) (map[string]api.Node, diag.Diagnostics) {
	wanted := make(map[string]bool, len(macs))
	for _, mac := range macs {
		wanted[mac] = true
	}
	nodes := make(map[string]api.Node, len(macs))
	diagnostics := b.site.CallBulk(ctx, "list the nodes", func(ctx context.Context, client *api.Client) error {
		for node, err := range client.Nodes(ctx, api.Filter{}) {
			if err != nil {
				return err //nolint:wrapcheck // the site explains it
			}
			if wanted[node.MAC] {
				nodes[node.MAC] = node
			}
			for _, mac := range node.MACs {
				if wanted[mac] {
					return further(node, mac)
				}
			}
		}
		return nil
	})
	return nodes, diagnostics
}

// further refuses a key that is a MAC of a further interface: a machine has one binding, under the MAC that names it.
func further(node api.Node, mac string) error {
	if node.MAC == mac {
		return nil
	}
	return fmt.Errorf("MAC %s is that of a further interface of node %s: name the machine by its mac, %s", mac, node.Name,
		node.MAC)
}
