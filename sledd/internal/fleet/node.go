// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Resolve gives the MAC of a node that is named by MAC or by name. A MAC need not be known.
func (f *Fleet) Resolve(ctx context.Context, reference string) (string, error) {
	if address, err := mac.Parse(reference); err == nil {
		return address, nil
	}
	snapshot, err := f.Store.Read(ctx, store.Key(key.Names+reference))
	if err != nil {
		return "", err
	}
	if name, found := snapshot.One(0); found {
		return string(name.Value), nil
	}
	return "", refuse(NotFound, "node %s does not exist", reference)
}

// Node gives one node with its facts.
func (f *Fleet) Node(ctx context.Context, reference string) (api.Node, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Node{}, err
	}
	v, err := f.load(ctx, address, store.Key(key.Facts+address))
	if err != nil {
		return api.Node{}, err
	}
	if !v.known() {
		return api.Node{}, refuse(NotFound, "node %s does not exist", reference)
	}
	node := v.public()
	if len(v.extra[0]) > 0 {
		node.Facts = &api.Facts{}
		if err := decode(v.extra[0][0], node.Facts); err != nil {
			return api.Node{}, err
		}
	}
	return node, nil
}

// known says whether the node is declared or was seen. A deleted node keeps a status of nothing but its generation.
func (v *view) known() bool { return v.node != nil || v.status.Phase != "" }

func (v *view) public() api.Node {
	node := api.Node{NodeSpec: api.NodeSpec{MAC: v.mac}, Status: v.status}
	if v.node != nil {
		node.NodeSpec, node.Declared, node.Revision = *v.node, true, v.read[iNode].Revision
	}
	if v.rescue != nil {
		node.Rescue = &v.rescue.Rescue
	}
	if v.binding != nil {
		binding := v.binding.public(v.status)
		node.Binding = &binding
	}
	return node
}

// PutNode declares a node, or changes its declaration.
func (f *Fleet) PutNode(ctx context.Context, reference string, spec api.NodeSpec, wanted Wanted) (api.Node, error) {
	if err := checkNode(reference, spec); err != nil {
		return api.Node{}, err
	}
	var node api.Node
	err := retry(ctx, func(ctx context.Context) error {
		v, err := f.load(ctx, spec.MAC, store.Key(key.Names+spec.Name))
		if err != nil {
			return err
		}
		if err := wanted.check("node "+spec.Name, v.read[iNode].Revision); err != nil {
			return err
		}
		if err := v.declare(spec); err != nil {
			return err
		}
		if t := v.transaction(); len(t.Do) > 0 {
			if v.read[iNode].Revision, err = f.Store.Commit(ctx, t); err != nil {
				return err
			}
		}
		node = v.public()
		return nil
	})
	return node, err
}

func checkNode(reference string, spec api.NodeSpec) error {
	if _, err := mac.Parse(spec.Name); err == nil {
		return invalid("body.name", spec.Name, fmt.Errorf("name %s looks like a MAC: choose another", spec.Name))
	}
	if address, err := mac.Parse(reference); reference != spec.Name && (err != nil || address != spec.MAC) {
		return invalid("path.node", reference, fmt.Errorf("the path says %s, the body MAC %s and name %s", reference, spec.MAC, spec.Name))
	}
	if spec.Disk != "" {
		if err := plan.CheckSelector(spec.Disk); err != nil {
			return invalid("body.disk", spec.Disk, err)
		}
	}
	for i, keep := range spec.KeepDisks {
		if err := plan.CheckKeep(keep); err != nil {
			return invalid(fmt.Sprintf("body.keep_disks[%d]", i), keep, err)
		}
	}
	return nil
}

// declare notes a new declaration in the view, or nothing when it is the same. extra[0] is who has the name.
func (v *view) declare(spec api.NodeSpec) error {
	if len(v.extra[0]) > 0 && string(v.extra[0][0].Value) != v.mac {
		return refuse(Conflict, "name %s belongs to node %s already", spec.Name, v.extra[0][0].Value)
	}
	value := encode(spec)
	if v.node != nil && bytes.Equal(value, v.read[iNode].Value) {
		return nil
	}
	if v.binding != nil {
		if _, err := plan.Build(spec, v.binding.Binding, v.binding.Source, v.captures.Upload); err != nil {
			return refuse(Conflict, "node %s is bound, and its plan could not be made any more: %v", spec.Name, err)
		}
	}
	if v.node == nil || v.node.Name != spec.Name {
		revision := int64(0)
		if len(v.extra[0]) > 0 {
			revision = v.extra[0][0].Revision
		}
		v.more.Unchanged(key.Names+spec.Name, revision)
		v.more.Put(key.Names+spec.Name, []byte(v.mac))
	}
	if v.node != nil && v.node.Name != spec.Name {
		v.more.Delete(key.Names + v.node.Name)
	}
	v.more.Put(key.Nodes+v.mac, value)
	if v.status.Phase == api.Discovered {
		v.enter(api.Idle)
	}
	v.node = &spec
	v.happened(api.Event{Kind: "declare", Detail: spec.Name})
	return nil
}

// DeleteNode forgets a node that is not bound. Its generation is kept, so that it never goes back.
func (f *Fleet) DeleteNode(ctx context.Context, reference string, wanted Wanted) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, []store.Query{store.Key(key.Facts + address), store.Key(key.Logs + address)}, func(v *view) error {
		if err := wanted.check("node "+reference, v.read[iNode].Revision); err != nil {
			return err
		}
		if !v.known() {
			return refuse(NotFound, "node %s does not exist", reference)
		}
		if v.binding != nil {
			return refuse(Conflict, "node %s is bound (generation %d): delete the binding first", reference, v.binding.Generation)
		}
		if v.node != nil {
			v.more.Delete(key.Nodes + address)
			v.more.Delete(key.Names + v.node.Name)
		}
		v.more.Delete(key.Facts + address)
		v.more.Delete(key.Logs + address)
		v.more.Do = append(v.more.Do, store.Operation{Key: key.EventsOf(address), Delete: true, To: key.Event(address, v.now.UnixNano())})
		v.status = api.Status{Generation: v.status.Generation}
		v.tokens, v.kexecs, v.rescue = nil, kexecs{}, nil
		v.happened(api.Event{Kind: "delete", Detail: reference})
		return nil
	})
}
