// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Dry returns the same fleet for dry runs: it checks and answers like f, and stores nothing. Its bindings have an
// outlook.
func (f *Fleet) Dry() *Fleet {
	db := *f.DB
	db.Store, db.Kexec = store.Dry{Store: f.Store}, nil
	return &Fleet{DB: &db, ImageURLs: f.ImageURLs, UploadURL: f.UploadURL, Quirks: f.Quirks, Multicast: f.Multicast,
		Recorded: f.Recorded, Generator: f.Generator, dry: true}
}

// kinds are the records of nodes that a bulk request is about: facts, where an outlook or a payload needs them.
func (b *bulk) kinds() []nodetx.Kind {
	inMemory := func(c Change) bool {
		image := b.images[c.Image]
		return image != nil && image.InMemory()
	}
	if b.dry || slices.ContainsFunc(b.changes, inMemory) {
		return append(slices.Clone(nodetx.Core), nodetx.Facts)
	}
	return nodetx.Core
}

// result is a node's binding as the answer to a change shows it.
func (tx *nodeTx) result(reference string) api.Binding {
	shown := api.Binding{BindingSpec: api.BindingSpec{Node: reference}, MAC: tx.MAC}
	if tx.Binding() != nil {
		shown = tx.Binding().Public(*tx.Status())
	}
	if tx.fleet.dry {
		shown.Outlook = tx.outlook()
	}
	return shown
}

// outlook describes what was staged.
func (tx *nodeTx) outlook() *api.Outlook {
	o := api.Outlook{Node: tx.NameOr(tx.MAC), Changed: len(tx.Writes.Do) > 0, Why: tx.why,
		Before: tx.last(), Had: tx.Status().Image}
	if was := tx.before; was != nil {
		o.Had = was.Image
	}
	now := tx.Binding()
	if now == nil {
		return &o
	}
	o.Generation, o.Image, o.Disk = now.Generation, now.Image, cmp.Or(now.Disk, tx.Spec().Disk)
	o.Partition = now.Partition
	if o.Memory = now.Memory(); o.Memory {
		o.Kind, o.Bytes = now.Source.KindText(), cmp.Or(now.Source.FileBytes, now.Source.Bytes)
		o.Warning = tx.fleet.Policy.WaitsAfterPowerCut(tx.Tx, tx.fleet.Recorded != nil && tx.fleet.Recorded(tx.MAC))
	}
	if now.WipesAll() || tx.HandsOver() {
		o.Disk = api.AllDisks
	}
	o.Match(tx.Spec().KeepDisks, tx.Facts().Candidates())
	if len(o.Why) > 0 {
		o.When = api.When(tx.Status().Phase, tx.Detour() != nil)
	}
	if tx.wipes() {
		o.Wipes = o.WipeText()
	}
	return &o
}

// wipes reports whether a disk of the node loses its content by what was staged.
func (tx *nodeTx) wipes() bool {
	return tx.Binding() != nil && tx.Binding().Capture == "" && len(tx.why) > 0 &&
		(!tx.Binding().Memory() || tx.HandsOver())
}

// last is the generation before what was staged: of the binding, without one that of the last plan; 0: none yet.
func (tx *nodeTx) last() int64 {
	if tx.before == nil {
		return tx.Status().Generation
	}
	return max(tx.before.Generation, tx.Status().Generation)
}

// reasons are why a binding raises the generation; none: it does not.
func (tx *nodeTx) reasons(desired *nodetx.Binding, reimage bool) []string {
	if tx.before == nil {
		return []string{"first"}
	}
	why := api.Reimages(tx.before.Effect(), desired.Effect(), tx.Spec())
	if reimage {
		why = append(why, "reimage")
	}
	return slices.Clip(why)
}
