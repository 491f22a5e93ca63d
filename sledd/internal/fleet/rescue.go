// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// PutRescue puts a node under rescue, or, unless absent is required, changes who may enter. A waiting node enters at
// once, any other at its next boot.
func (f *Fleet) PutRescue(ctx context.Context, reference string, spec api.RescueSpec, absent bool) (api.Node, error) {
	var node api.Node
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return node, err
	}
	err = f.update(ctx, address, func(tx *nodeTx) error {
		if !tx.Known() {
			return refusal.New(refusal.NotFound, "node %s does not exist", reference)
		}
		if spec.AuthorizedKeys, err = checkRescue(spec.AuthorizedKeys); err != nil {
			return err
		}
		next := tx.detour()
		if absent && next.Rescue != nil {
			return refusal.New(refusal.Precondition, "node %s is under rescue already", reference)
		}
		if before := next.Rescue; before == nil || !slices.Equal(before.AuthorizedKeys, spec.AuthorizedKeys) {
			next.Run, next.Rescue = 0, &api.Rescue{RescueSpec: spec, Started: tx.Now}
			if before != nil {
				next.Rescue.Started = before.Started
			}
			tx.SetDetour(next)
			if tx.Job() != nil {
				tx.cancelJob()
			}
			tx.AddEvent(api.Event{Kind: "rescue", Generation: tx.Status().Generation,
				Detail: nodetext.Clean(fmt.Sprintf("started, %d keys", len(spec.AuthorizedKeys)))})
		}
		node = f.shownNode(tx.Tx)
		return nil
	})
	return node, err
}

// detour is that of the node, to be changed; an empty one if there is none.
func (tx *nodeTx) detour() detour.Detour {
	if stored := tx.Detour(); stored != nil {
		return *stored
	}
	return detour.Detour{}
}

// checkRescue returns the keys as they are stored, and refuses those that no plan can hold.
func checkRescue(given []string) ([]string, error) {
	keys, err := checkKeys(given)
	if err != nil {
		return nil, err
	}
	requested := detour.Detour{Rescue: &api.Rescue{RescueSpec: api.RescueSpec{AuthorizedKeys: keys}}}
	next, _ := requested.Next(detour.Node{}, 0)
	if _, err := plan.Encode(plan.Plan{Steps: next.Steps}); err != nil {
		return nil, refusal.Value("body.authorized_keys", nil,
			fmt.Errorf("these %d keys do not fit into a plan; fewer or shorter ones do, such as ed25519: %w",
				len(keys), err))
	}
	return keys, nil
}

// DeleteRescue ends a rescue. The node has the phase again that it had before.
func (f *Fleet) DeleteRescue(ctx context.Context, reference string) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, func(tx *nodeTx) error {
		next := tx.detour()
		if next.Rescue == nil {
			return refusal.New(refusal.NotFound, "node %s is not under rescue", reference)
		}
		next.Run, next.Rescue = 0, nil
		tx.SetDetour(next)
		tx.AddEvent(api.Event{Kind: "rescue", Generation: tx.Status().Generation, Detail: nodetext.Clean("ended")})
		return nil
	})
}
