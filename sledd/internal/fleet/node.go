// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Node returns one node with its facts.
func (f *Fleet) Node(ctx context.Context, reference string) (api.Node, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Node{}, err
	}
	tx, err := f.load(ctx, address, nodetx.Facts)
	if err != nil {
		return api.Node{}, err
	}
	if !tx.Known() {
		return api.Node{}, refusal.New(refusal.NotFound, "node %s does not exist", reference)
	}
	node := f.shownNode(tx.Tx)
	node.Facts = tx.Facts()
	return node, nil
}

// PutNode declares a node, or changes its declaration.
func (f *Fleet) PutNode(ctx context.Context, reference string, spec api.NodeSpec,
	wanted nodetx.Wanted) (api.Node, error) {
	if err := checkNode(reference, spec); err != nil {
		return api.Node{}, err
	}
	if err := checkNetwork(&spec); err != nil {
		return api.Node{}, err
	}
	rendered, err := f.rendered(ctx, spec)
	if err != nil {
		return api.Node{}, err
	}
	var node api.Node
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		var holder nodetx.Slot[[]byte]
		tx, err := f.load(ctx, spec.MAC, nodetx.NameHolder(spec.Name), nodetx.MACHolder(spec.MAC, &holder))
		if err != nil {
			return err
		}
		if err := wanted.Check("node "+spec.Name, tx.RevisionOf(nodetx.Node)); err != nil {
			return err
		}
		units, err := tx.takeAll(ctx, spec, &holder)
		if err != nil {
			return err
		}
		if err := tx.takeNetwork(ctx, spec, rendered); err != nil {
			return err
		}
		if err := tx.declare(spec); err != nil {
			return err
		}
		revision, err := f.Commit(ctx, append(units, tx.Tx)...)
		if err != nil {
			return err
		}
		node = f.shownNode(tx.Tx)
		if revision != 0 {
			node.Revision = revision
		}
		return nil
	})
	return node, err
}

func checkNode(reference string, spec api.NodeSpec) error {
	if _, err := mac.Parse(spec.MAC); err != nil {
		return refusal.Value("body.mac", spec.MAC, err)
	}
	if err := checkMACs(spec); err != nil {
		return err
	}
	if err := checkLabels(spec.Labels); err != nil {
		return err
	}
	if mac.Looks(spec.Name) {
		return refusal.Value("body.name", spec.Name, fmt.Errorf("name %s looks like a MAC: choose another", spec.Name))
	}
	if address, err := mac.Parse(reference); reference != spec.Name && (err != nil || address != spec.MAC) {
		return refusal.Value("path.node", reference,
			fmt.Errorf("the path names %s, the body MAC %s and name %s", reference, spec.MAC, spec.Name))
	}
	if spec.Disk != "" {
		if err := plan.CheckSelector(spec.Disk); err != nil {
			return refusal.Value("body.disk", spec.Disk, err)
		}
	}
	for i, keep := range spec.KeepDisks {
		if err := plan.CheckKeep(keep); err != nil {
			return refusal.Value(fmt.Sprintf("body.keep_disks[%d]", i), keep, err)
		}
	}
	if i, err := plan.CheckDataDisks(spec.DataDisks); err != nil {
		return refusal.Value(fmt.Sprintf("body.data_disks[%d]", i), spec.DataDisks[i], err)
	}
	return nil
}

// declare notes a new declaration in the view, or nothing when it is the same.
func (tx *nodeTx) declare(spec api.NodeSpec) error {
	holder, revision := tx.NameHolder()
	if holder != "" && holder != tx.MAC {
		return refusal.New(refusal.Conflict, "name %s belongs to node %s already; if that machine got another network "+
			"card or mainboard: sledctl node replace %s --mac %s", spec.Name, holder, spec.Name, spec.MAC)
	}
	if tx.Node() != nil && bytes.Equal(nodetx.Encode(spec), tx.StoredValue(nodetx.Node)) {
		return nil
	}
	if tx.Binding() != nil {
		if _, err := plan.Draft(tx.fleet.request(spec, tx.Binding())); err != nil {
			return refusal.New(refusal.Conflict, "node %s is bound, and its plan could not be made any more: %v",
				spec.Name, err)
		}
	}
	if tx.Node() == nil || tx.Node().Name != spec.Name {
		tx.Writes.Unchanged(key.Names+spec.Name, revision)
		tx.Writes.Put(key.Names+spec.Name, []byte(tx.MAC))
	}
	if tx.Node() != nil && tx.Node().Name != spec.Name {
		tx.Writes.Delete(key.Names + tx.Node().Name)
	}
	if tx.Status().Phase == api.Discovered {
		tx.Enter(api.Idle)
	}
	tx.Declare(spec)
	tx.AddEvent(api.Event{Kind: "declare", Detail: nodetext.Clean(spec.Name)})
	return nil
}

// DeleteNode forgets a node that is not bound. Its generation is kept, so that it never goes back.
func (f *Fleet) DeleteNode(ctx context.Context, reference string, wanted nodetx.Wanted) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, func(tx *nodeTx) error {
		if err := wanted.Check("node "+reference, tx.RevisionOf(nodetx.Node)); err != nil {
			return err
		}
		if !tx.Known() {
			return refusal.New(refusal.NotFound, "node %s does not exist", reference)
		}
		if tx.Binding() != nil {
			return refusal.New(refusal.Conflict, "node %s is bound (generation %d): delete the binding first",
				reference,
				tx.Binding().Generation)
		}
		if tx.Job() != nil {
			return refusal.New(refusal.Conflict, "node %s is %s: cancel that first", reference, tx.Detour().State())
		}
		if tx.Node() != nil {
			tx.Writes.Delete(key.Nodes + address)
			tx.Writes.Delete(key.Names + tx.Node().Name)
			for _, further := range tx.Node().MACs {
				tx.Drop(further)
			}
			if err := tx.dropNetwork(); err != nil {
				return err
			}
		}
		tx.Forget()
		tx.AddEvent(api.Event{Kind: "delete", Detail: nodetext.Clean(reference)})
		return nil
	})
}
