// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/netplan"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/network"
)

// Network returns the network of a node as it was rendered.
func (f *Fleet) Network(ctx context.Context, reference string) (api.RenderedNetwork, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.RenderedNetwork{}, err
	}
	tx, err := f.load(ctx, address, nodetx.Network)
	if err != nil {
		return api.RenderedNetwork{}, err
	}
	if tx.Network() == nil {
		return api.RenderedNetwork{}, refusal.New(refusal.NotFound, "node %s declares no network that is rendered: it is %s",
			reference, cmp.Or(tx.Spec().Network, api.ImageNetwork))
	}
	return *tx.Network(), nil
}

// checkNetwork replaces the network of a declaration by its canonical form.
func checkNetwork(spec *api.NodeSpec) error {
	canonical, err := network.Canonical(spec.Network)
	if err != nil {
		return refusal.Value("body.network", nil, err)
	}
	spec.Network = canonical
	return nil
}

// rendered is the network of a declaration, if it is a document and another one than before. It is made once, and ahead
// of the change, which may be tried several times in a short time.
func (f *Fleet) rendered(ctx context.Context, spec api.NodeSpec) (*api.RenderedNetwork, error) {
	if !spec.Network.Declared() {
		return nil, nil //nolint:nilnil // nil is a valid value: there is nothing to render
	}
	tx, err := f.load(ctx, spec.MAC)
	if err != nil || tx.Spec().Network == spec.Network {
		return nil, err
	}
	made, err := netplan.Render(ctx, cmp.Or(f.Generator, netplan.Generator), spec.Network)
	if err != nil {
		return nil, refusal.Value("body.network", nil, err)
	}
	return &made, nil
}

// takeNetwork stages the network of a declaration, if it is another one: its rendered files, and its addresses, each of
// which is one node's.
func (tx *nodeTx) takeNetwork(ctx context.Context, spec api.NodeSpec, rendered *api.RenderedNetwork) error {
	before := tx.Spec().Network
	switch {
	case spec.Network == before:
		return nil
	case !spec.Network.Declared():
		tx.Writes.Delete(nodetx.KeyOf(nodetx.Network, tx.MAC))
	case rendered == nil:
		return store.ErrChanged // since it was compared
	default:
		tx.Writes.Put(nodetx.KeyOf(nodetx.Network, tx.MAC), nodetx.Encode(rendered))
	}
	had, err := addressesIn(before)
	if err != nil {
		return err
	}
	has, err := addressesIn(spec.Network)
	if err != nil {
		return err
	}
	for _, address := range has {
		if err := tx.takeAddress(ctx, address, slices.Contains(had, address)); err != nil {
			return err
		}
	}
	for _, address := range had {
		if !slices.Contains(has, address) {
			tx.Writes.Delete(key.Addresses + address.String())
		}
	}
	return nil
}

// addressesIn returns the addresses of a network in its canonical form.
func addressesIn(of api.Network) ([]netip.Addr, error) {
	names, err := network.NamesIn(of)
	return names.Addresses, err //nolint:wrapcheck // names the key
}

func (tx *nodeTx) takeAddress(ctx context.Context, address netip.Addr, own bool) error {
	if own {
		return nil
	}
	name := key.Addresses + address.String()
	var slot nodetx.Slot[[]byte]
	if _, err := tx.fleet.load(ctx, tx.MAC, nodetx.Into(name, &slot)); err != nil {
		return err
	}
	if holder := slot.Get(); holder != nil && string(*holder) != tx.MAC {
		other, err := tx.fleet.load(ctx, string(*holder))
		if err != nil {
			return err
		}
		return refusal.New(refusal.Conflict, "network: address %s is that of node %s already: remove it there first, or "+
			"declare another address", address, other.NameOr(other.MAC))
	}
	tx.Writes.Unchanged(name, slot.Revision())
	tx.Writes.Put(name, []byte(tx.MAC))
	return nil
}

// dropNetwork stages that the network of the node is forgotten.
func (tx *nodeTx) dropNetwork() error {
	addresses, err := addressesIn(tx.Spec().Network)
	for _, address := range addresses {
		tx.Writes.Delete(key.Addresses + address.String())
	}
	tx.Writes.Delete(nodetx.KeyOf(nodetx.Network, tx.MAC))
	return err
}

// moveNetwork stages the network of the node for its new MAC, which takes the place of the old one in it, too.
func (r *replacement) moveNetwork(ctx context.Context, spec *api.NodeSpec) error {
	old, fresh := r.old, r.fresh
	if !spec.Network.Declared() {
		return nil
	}
	moved := strings.ReplaceAll(string(spec.Network), old.MAC, fresh.MAC)
	if !strings.Contains(string(spec.Network), fresh.MAC) {
		spec.Network = api.Network(moved)
	}
	rendered, err := r.rendered(ctx, *spec)
	if err != nil {
		return err
	}
	fresh.Writes.Put(nodetx.KeyOf(nodetx.Network, fresh.MAC), nodetx.Encode(rendered))
	old.Writes.Delete(nodetx.KeyOf(nodetx.Network, old.MAC))
	addresses, err := addressesIn(spec.Network)
	for _, address := range addresses {
		fresh.Writes.Put(key.Addresses+address.String(), []byte(fresh.MAC))
	}
	return err
}
