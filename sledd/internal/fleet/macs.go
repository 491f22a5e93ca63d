// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// checkMACs refuses further MACs that are none, or that the declaration names twice.
func checkMACs(spec api.NodeSpec) error {
	for i, one := range spec.MACs {
		location := fmt.Sprintf("body.macs[%d]", i)
		address, err := mac.Parse(one)
		switch {
		case err != nil:
			return refusal.Value(location, one, err)
		case address != one:
			return refusal.Value(location, one, fmt.Errorf("MAC %s: want lower case with colons, %s", one, address))
		case one == spec.MAC:
			return refusal.Value(location, one, fmt.Errorf("MAC %s is the mac of node %s: macs lists further ones", one,
				spec.Name))
		case slices.Contains(spec.MACs[:i], one):
			return refusal.Value(location, one, fmt.Errorf("MAC %s is listed twice", one))
		}
	}
	return nil
}

// takeAll stages all MACs of a declaration. holder is the node that has the one that names it as a further one.
func (tx *nodeTx) takeAll(ctx context.Context, spec api.NodeSpec, holder *nodetx.Slot[[]byte]) ([]*nodetx.Tx, error) {
	if tx.Node() == nil {
		if err := tx.fleet.checkFree(ctx, tx, holder); err != nil {
			return nil, err
		}
		tx.Writes.Unchanged(key.MACs+spec.MAC, 0)
	}
	return tx.takeMACs(ctx, spec)
}

// takeMACs stages the further MACs of a declaration. It returns the units of work of those that are new: what is known
// of a machine that was discovered by one of them is forgotten, as it is this machine.
func (tx *nodeTx) takeMACs(ctx context.Context, spec api.NodeSpec) ([]*nodetx.Tx, error) {
	var before []string
	if tx.Node() != nil {
		before = tx.Node().MACs
	}
	var units []*nodetx.Tx
	for _, address := range spec.MACs {
		if slices.Contains(before, address) {
			continue
		}
		unit, err := tx.takeMAC(ctx, address)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	for _, address := range before {
		if !slices.Contains(spec.MACs, address) {
			tx.Drop(address)
		}
	}
	return units, nil
}

func (tx *nodeTx) takeMAC(ctx context.Context, address string) (*nodetx.Tx, error) {
	var holder nodetx.Slot[[]byte]
	other, err := tx.fleet.load(ctx, address, nodetx.MACHolder(address, &holder))
	if err != nil {
		return nil, err
	}
	if err := tx.fleet.checkFree(ctx, other, &holder); err != nil {
		return nil, err
	}
	if state := busy(other.Tx); state != "" {
		return nil, refusal.New(refusal.Conflict, "the machine with MAC %s is %s: end that first", address, state)
	}
	tx.Writes.Unchanged(key.Nodes+address, 0)
	tx.Take(address, 0)
	if other.Known() {
		other.Forget()
	}
	return other.Tx, nil
}

// busy is the state of a machine that follows a binding or a detour; empty: it follows none.
func busy(unit *nodetx.Tx) string {
	switch {
	case unit.Detour() != nil:
		return unit.Detour().State()
	case unit.Binding() != nil:
		return "bound"
	}
	return ""
}

// checkFree refuses a MAC that a node has already: as the one that names it, or as a further one.
func (f *Fleet) checkFree(ctx context.Context, unit *nodeTx, holder *nodetx.Slot[[]byte]) error {
	node := unit.Node()
	if has := holder.Get(); node == nil && has != nil {
		owner, err := f.load(ctx, string(*has))
		if err != nil {
			return err
		}
		node = owner.Node()
	}
	if node == nil {
		return nil
	}
	return refusal.New(refusal.Conflict, "MAC %s belongs to node %s already: remove it there first, or name another MAC",
		unit.MAC, node.Name)
}
