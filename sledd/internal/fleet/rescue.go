// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// PutRescue puts a node under rescue, or changes who may enter. A waiting node enters at once, any
// other at its next boot.
func (f *Fleet) PutRescue(ctx context.Context, reference string, spec api.RescueSpec) (api.Node, error) {
	var node api.Node
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return node, err
	}
	err = f.update(ctx, address, func(tx *nodeTx) error {
		if !tx.Known() {
			return refusal.New(refusal.NotFound, "node %s does not exist", reference)
		}
		if err := checkRescue(spec.AuthorizedKeys); err != nil {
			return err
		}
		if tx.Rescue() == nil || !slices.Equal(tx.Rescue().AuthorizedKeys, spec.AuthorizedKeys) {
			started := &nodetx.Rescue{Rescue: api.Rescue{RescueSpec: spec, Started: tx.Now}, Number: tx.Revision + 1}
			if tx.Rescue() != nil {
				started.Started = tx.Rescue().Started
			}
			tx.SetRescue(started)
			tx.AddEvent(api.Event{Kind: "rescue", Generation: tx.Status().Generation,
				Detail: nodetext.Clean(fmt.Sprintf("started, %d keys", len(spec.AuthorizedKeys)))})
		}
		node = f.shownNode(tx.Tx)
		return nil
	})
	return node, err
}

// checkRescue refuses keys that no plan can hold.
func checkRescue(keys []string) error {
	if err := checkKeys(keys); err != nil {
		return err
	}
	if _, err := plan.Encode(plan.Plan{Steps: nodetx.RescueSteps(keys)}); err != nil {
		return refusal.Value("body.authorized_keys", nil,
			fmt.Errorf("these %d keys do not fit into a plan; fewer or shorter ones do, such as ed25519: %w",
				len(keys), err))
	}
	return nil
}

// DeleteRescue ends a rescue. The node has the phase again that it had before.
func (f *Fleet) DeleteRescue(ctx context.Context, reference string) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, func(tx *nodeTx) error {
		if tx.Rescue() == nil {
			return refusal.New(refusal.NotFound, "node %s is not under rescue", reference)
		}
		tx.SetRescue(nil)
		if tx.Status().Phase == api.UnderRescue {
			tx.Enter(tx.Status().Before)
		}
		tx.AddEvent(api.Event{Kind: "rescue", Generation: tx.Status().Generation, Detail: nodetext.Clean("ended")})
		return nil
	})
}
