// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Disks returns what a selector means on a node, with the disks that it has reported last: a plan for that boot would
// have the same result. Without a selector or a keep list, those of the binding and the node count.
func (f *Fleet) Disks(ctx context.Context, reference, match string, keep []string) (api.NodeDisks, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.NodeDisks{}, err
	}
	tx, err := f.load(ctx, address, nodetx.Facts)
	if err != nil {
		return api.NodeDisks{}, err
	}
	if !tx.Known() {
		return api.NodeDisks{}, refusal.New(refusal.NotFound, "node %s does not exist", reference)
	}
	facts := tx.Facts()
	if facts == nil {
		return api.NodeDisks{}, refusal.New(refusal.NotFound, "node %s has reported no disks: it does at its next boot "+
			"into the Sled system", reference)
	}
	if len(keep) == 0 {
		keep = tx.Spec().KeepDisks
	}
	shown := api.NodeDisks{Node: tx.NameOr(tx.MAC), Match: cmp.Or(match, tx.selector()), Keep: keep, Time: facts.Time,
		BootID: facts.BootID, Disks: []api.NodeDisk{}}
	binding := tx.Binding()
	if err := explain(facts.Table(), &shown, binding == nil || binding.Capture == ""); err != nil {
		return shown, err
	}
	if shown.Match != api.AllDisks && (binding == nil || binding.Capture == "") {
		explainData(tx.Spec(), facts.Table(), &shown)
	}
	return shown, nil
}

// explainData marks the data disks: no image is written to one, and none is written at all while one of them does not
// resolve.
func explainData(node api.NodeSpec, table disk.Table, shown *api.NodeDisks) {
	node.KeepDisks = shown.Keep
	names, err := plan.DataDisks(node, table)
	for i, d := range shown.Disks {
		name, found := names[d.Name]
		if !found || d.Missing {
			continue
		}
		shown.Disks[i].Why = "data disk " + name
		if d.Chosen {
			err = fmt.Errorf("disk %s: %s (%s) is a data disk of the node: name another disk for the image", shown.Match,
				d.Name, d.Disk)
		}
	}
	if err == nil {
		return
	}
	for i := range shown.Disks {
		shown.Disks[i].Chosen = false
	}
	if shown.Planned = ""; shown.Refused == "" {
		shown.Refused = err.Error()
	}
}

// ForgetDisk forgets a disk that an earlier boot has reported and the newest has not, such as one that was exchanged: a
// selector that describes it is no longer refused because of it. The disk must be named by identity.
func (f *Fleet) ForgetDisk(ctx context.Context, reference, named string) error {
	selector, err := disk.Parse(named)
	if err == nil && !selector.Identifies() {
		err = fmt.Errorf("disk %s must be named with serial:, wwn: or path: in front", named)
	}
	if err != nil {
		return refusal.Value("query.disk", named, err)
	}
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.Update(ctx, address, []nodetx.Want{nodetx.Facts}, func(tx *nodetx.Tx) error {
		facts := tx.Facts()
		if facts == nil || !facts.Forget(selector.Matches) {
			return refusal.New(refusal.NotFound, "node %s misses no disk %s: sledctl node disks lists those that are missing",
				reference, named)
		}
		tx.Writes.Put(key.Facts+tx.MAC, nodetx.Encode(facts))
		tx.AddEvent(api.Event{Kind: "disk", Detail: nodetext.Clean("forgotten: " + named)})
		return nil
	})
}

// selector is the one of the node's next plan; empty: none is declared.
func (tx *nodeTx) selector() string {
	if binding := tx.Binding(); binding != nil {
		if binding.WipesAll() {
			return api.AllDisks
		}
		return cmp.Or(binding.Disk, tx.Spec().Disk)
	}
	return tx.Spec().Disk
}

// explain fills in what is chosen, and why the other disks are not. The error is a selector that does not parse.
func explain(table disk.Table, shown *api.NodeDisks, writes bool) error {
	var verdicts []disk.Verdict
	var err error
	switch shown.Match {
	case api.AllDisks:
		verdicts, err = table.All(shown.Keep)
		shown.Planned = api.AllDisks
	case "":
		verdicts, _ = table.All(shown.Keep)
		for i := range verdicts {
			verdicts[i].Chosen = false
		}
		err = fmt.Errorf("no disk is selected: neither the binding nor the node names one")
	default:
		verdicts, err = table.Explain(shown.Match, shown.Keep, writes)
		if err == nil {
			chosen, _ := table.Choose(shown.Match, shown.Keep)
			shown.Planned, err = table.Pin(chosen)
		}
	}
	if disk.KindOf(err) == disk.Syntax {
		return refusal.Value("query.match", shown.Match, err)
	}
	if err != nil {
		shown.Planned, shown.Refused = "", err.Error()
	}
	for _, v := range verdicts {
		shown.Disks = append(shown.Disks, api.NodeDisk{Disk: v.Disk, Chosen: v.Chosen, Why: v.Why})
	}
	return nil
}
