// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// copied events in one transaction.
const copiedEvents = 100

// replacement is a node that gets another MAC, and the records of both.
type replacement struct {
	*Fleet
	old, fresh *nodeTx
	name       int64               // revision of the key of the node's name
	holder     nodetx.Slot[[]byte] // of the new MAC, as a further one
}

// ReplaceNode moves a node to another MAC, as after a new network card or mainboard. The node keeps its name, binding
// and history. No token, claim or incumbent of either MAC survives.
func (f *Fleet) ReplaceNode(ctx context.Context, reference string, spec api.ReplaceSpec,
	wanted nodetx.Wanted) (api.Node, error) {
	address, err := mac.Parse(spec.MAC)
	if err != nil {
		return api.Node{}, refusal.Value("body.mac", spec.MAC, err)
	}
	var node api.Node
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		r, err := f.readReplacement(ctx, reference, address)
		if err != nil {
			return err
		}
		if r.old.MAC == address { // sent again
			node = f.shownNode(r.old.Tx)
			return nil
		}
		if err := r.check(ctx, reference, wanted); err != nil {
			return err
		}
		if err := r.make(ctx); err != nil {
			return err
		}
		revision, err := r.commit(ctx)
		node = f.shownNode(r.fresh.Tx)
		node.Revision = revision
		return err
	})
	return node, err
}

func (f *Fleet) readReplacement(ctx context.Context, reference, address string) (*replacement, error) {
	from, err := f.Resolve(ctx, reference)
	if err != nil {
		return nil, err
	}
	old, err := f.load(ctx, from, nodetx.Facts, nodetx.Log, nodetx.Events(events.Most))
	if err != nil {
		return nil, err
	}
	if old.Node() == nil {
		return nil, refusal.New(refusal.NotFound, "node %s is not declared", reference)
	}
	r := &replacement{Fleet: f, old: old}
	r.fresh, err = f.load(ctx, address, nodetx.Facts, nodetx.Log, nodetx.NameHolder(old.Node().Name),
		nodetx.MACHolder(address, &r.holder))
	if err != nil {
		return nil, err
	}
	holder, revision := r.fresh.NameHolder()
	if holder != from {
		return nil, store.ErrChanged // it was renamed or replaced in between
	}
	r.name = revision
	return r, nil
}

// check refuses what would mix up two machines.
func (r *replacement) check(ctx context.Context, reference string, wanted nodetx.Wanted) error {
	if err := wanted.Check("node "+reference, r.old.RevisionOf(nodetx.Node)); err != nil {
		return err
	}
	name, address := r.old.Node().Name, r.fresh.MAC
	if !slices.Contains(r.old.Node().MACs, address) {
		if err := r.checkFree(ctx, r.fresh, &r.holder); err != nil {
			return err
		}
	}
	switch {
	case busy(r.fresh.Tx) != "":
		return refusal.New(refusal.Conflict, "the machine with MAC %s is %s: end that first", address, busy(r.fresh.Tx))
	case r.old.Detour() != nil:
		return refusal.New(refusal.Conflict, "node %s is %s: end that first", name, r.old.Detour().State())
	}
	rollout, err := r.running(ctx)
	if err != nil {
		return err
	}
	if rollout != "" {
		return refusal.New(refusal.Conflict, "node %s is in rollout %s, which runs: wait for its end, or abort it", name,
			rollout)
	}
	return nil
}

// running returns the name of a running rollout that the node is in.
func (r *replacement) running(ctx context.Context) (string, error) {
	snapshot, err := r.Store.Read(ctx, store.Prefix(key.Rollouts))
	if err != nil {
		return "", err
	}
	for _, kv := range snapshot.Results[0] {
		var rollout struct {
			Name  string           `json:"name"`
			State api.RolloutState `json:"state"`
			MACs  []string         `json:"macs"`
		}
		if err := nodetx.Decode(kv, &rollout); err != nil {
			return "", err
		}
		if rollout.State == api.RolloutRunning && slices.Contains(rollout.MACs, r.old.MAC) {
			return rollout.Name, nil
		}
	}
	return "", nil
}

// make moves the records in the views of both MACs.
func (r *replacement) make(ctx context.Context) error {
	old, fresh := r.old, r.fresh
	// The generation of a MAC never decreases, also not that of the new one.
	ahead := max(0, fresh.Status().Generation-old.Status().Generation)
	if err := r.moveBinding(ahead); err != nil {
		return err
	}
	r.moveStatus(ahead)
	before := old.Admission()
	*fresh.Admission() = admission.State{Generation: before.Generation + ahead, Floor: before.Floor, Boots: before.Boots,
		Epoch: fresh.Admission().Epoch + 1, Reset: fresh.Now, HandedOver: before.HandedOver, Alarms: before.Alarms}
	*fresh.Kexecs() = *old.Kexecs()
	fresh.SetTokens(nil)
	for _, kind := range []nodetx.Kind{nodetx.Facts, nodetx.Log} {
		if fresh.RevisionOf(kind) == 0 && old.RevisionOf(kind) != 0 {
			fresh.Writes.Put(nodetx.KeyOf(kind, fresh.MAC), old.StoredValue(kind))
		}
	}
	if now, before := fresh.Facts(), old.Facts(); now != nil && before != nil { // a disk of the old one may be late
		now.Missing = append(now.Missing, before.MissingIn(now)...)
		fresh.Writes.Put(nodetx.KeyOf(nodetx.Facts, fresh.MAC), nodetx.Encode(*now))
	}
	spec := r.moveMACs()
	if err := r.moveNetwork(ctx, &spec); err != nil {
		return err
	}
	fresh.Declare(spec)
	fresh.Writes.Unchanged(key.Names+spec.Name, r.name)
	fresh.Writes.Put(key.Names+spec.Name, []byte(fresh.MAC))
	fresh.AddEvent(api.Event{Kind: "replace", Generation: fresh.Generation(),
		Detail: nodetext.Clean("MAC " + fresh.MAC + " instead of " + old.MAC)})
	old.Writes.Delete(key.Nodes + old.MAC)
	old.Forget()
	old.AddEvent(api.Event{Kind: "delete", Detail: nodetext.Clean("replaced by " + fresh.MAC)})
	return nil
}

// moveMACs returns the declaration for the new MAC, which takes over the further MACs. One of these may be the new one.
func (r *replacement) moveMACs() api.NodeSpec {
	spec := *r.old.Node()
	spec.MAC, spec.MACs = r.fresh.MAC, nil
	r.fresh.Writes.Unchanged(key.MACs+r.fresh.MAC, r.holder.Revision())
	for _, address := range r.old.Node().MACs {
		if address == r.fresh.MAC {
			r.fresh.Drop(address)
			continue
		}
		spec.MACs = append(spec.MACs, address)
		r.fresh.Writes.Put(key.MACs+address, []byte(r.fresh.MAC))
	}
	return spec
}

// moveBinding binds the new MAC as the old one was. User data is sealed for a MAC.
func (r *replacement) moveBinding(ahead int64) error {
	stored := r.old.Binding()
	if stored == nil {
		return nil
	}
	userData, err := r.UserData(stored)
	if err != nil {
		return refusal.New(refusal.Conflict, "the binding cannot be moved: %v", err)
	}
	binding := *stored
	binding.MAC, binding.Sealed, binding.BindingSpec.UserData = r.fresh.MAC, "", userData
	binding.Generation += ahead
	if address, err := mac.Parse(binding.Node); err == nil && address == r.old.MAC {
		binding.Node = r.fresh.MAC
	}
	r.Seal(&binding, nil)
	r.fresh.Bind(binding, true)
	r.old.Unbind()
	return nil
}

// moveStatus keeps what is known of the disk. What is known of the boot is that of a machine which is no more.
func (r *replacement) moveStatus(ahead int64) {
	status, seen := *r.old.Status(), r.fresh.Status().Phase != ""
	status.Generation += ahead
	status.Run = api.Run{Number: max(status.Run.Number, r.fresh.Status().Run.Number),
		Generation: status.Run.Generation + ahead}
	status.BootID, status.Progress, status.Stamp = api.Identifier{}, nil, r.fresh.Status().Stamp
	*r.fresh.Status() = status
	if seen && status.Phase == "" {
		r.fresh.Enter(api.Idle)
	}
}

// commit copies the events first, so that a failure leaves the node as it was, and then moves all other records at
// once.
func (r *replacement) commit(ctx context.Context) (int64, error) {
	kept := r.old.Events()
	for batch := range slices.Chunk(kept[:min(len(kept), events.Kept)], copiedEvents) {
		var change store.Transaction
		for _, event := range batch {
			change.Put(key.Event(r.fresh.MAC, event.Time.UnixNano()), events.Copy(event))
		}
		if _, err := r.Store.Commit(ctx, change); err != nil {
			return 0, err
		}
	}
	return r.Commit(ctx, r.fresh.Tx, r.old.Tx)
}
