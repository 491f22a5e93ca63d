// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"context"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// count refuses a rollout whose nodes exceed its limits. Each requested node counts that is still to be imaged or
// wiped, but those whose disks are left as they are.
func (b *startRequest) count(ctx context.Context) (err error) {
	if b.asked.Spec.Limits == (api.Limits{}) {
		return nil
	}
	var runs map[string]storedRun
	if !b.fresh {
		if _, runs, err = b.Rollouts.rollout(ctx, b.rollout.Name); err != nil {
			return err
		}
	}
	losses := nodetx.Losses{}
	wiped := slices.DeleteFunc(slices.Clone(b.asked.MACs), func(address string) bool { return b.kept[address] })
	for some := range slices.Chunk(wiped, (store.MaxOperations-1)/3) {
		nodes, err := b.LoadMany(ctx, some, nodetx.Node, nodetx.Status, nodetx.BindingOf)
		if err != nil {
			return err
		}
		for _, tx := range nodes {
			run, started := runs[tx.MAC]
			if last, still := before(tx, run, started); still {
				losses.Add(tx.NameOr(tx.MAC), last > 0)
			}
		}
	}
	return losses.Check(b.asked.Spec.Limits)
}

// before is the generation of a node before the rollout, and whether the rollout still has to image or wipe the node. A
// node that was started before the rollout is resumed may be done by now.
func before(tx *nodetx.Tx, run storedRun, started bool) (generation int64, still bool) {
	if !started {
		return max(tx.Generation(), tx.Status().Generation), true
	}
	return run.From, !tx.Satisfied() || tx.Generation() == run.From
}
