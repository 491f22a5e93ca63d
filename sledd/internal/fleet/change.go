// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
)

// Change is a wish, or with Unbind the end of one, and the terms that it is taken on.
type Change struct {
	api.BulkBinding
	Wanted
	TakeOver bool // also from another owner
}

// change notes in the view what is asked for, unless its terms do not hold. The image is the one that the wish names, if there is one.
func (v *view) change(c Change, image *api.Image) error {
	for _, wanted := range []Wanted{c.Wanted, exactly(c.IfRevision)} {
		if err := wanted.check("the binding of "+v.called(c.Node), v.read[iBinding].Revision); err != nil {
			return err
		}
	}
	if old := v.binding; old != nil && old.Owner != "" && old.Owner != c.Owner && !c.TakeOver {
		return refuse(Conflict, "the binding of %s belongs to %s: name that owner, or take it over", v.called(c.Node), old.Owner)
	}
	if c.Unbind {
		return v.unbind(c)
	}
	if v.node == nil {
		return refuse(NotFound, "node %s is not declared: declare it before you bind it", c.Node)
	}
	if err := v.bind(c.BindingSpec, image, c.Reimage); err != nil {
		return err
	}
	return v.expect(c)
}

// unbind notes that the wish is taken back. The disk stays as it is.
func (v *view) unbind(c Change) error {
	if err := v.expect(c); err != nil || v.binding == nil {
		return err
	}
	v.more.Delete(key.Bindings + v.mac)
	v.happened(api.Event{Kind: "unbind", Generation: v.wished()})
	v.binding = nil
	return nil
}

// expect refuses a change when the generation is not what whoever asks has planned with.
func (v *view) expect(c Change) error {
	if c.IfGeneration == 0 || c.IfGeneration == v.wished() {
		return nil
	}
	if c.Unbind {
		return refuse(Precondition, "the binding of %s has generation %d, not %d", v.called(c.Node), v.wished(), c.IfGeneration)
	}
	return refuse(Precondition, "the binding of %s would get generation %d, not %d", v.called(c.Node), v.wished(), c.IfGeneration)
}

// called is the node's name, or while it has none, what it was asked for by.
func (v *view) called(reference string) string {
	if v.node != nil {
		return v.node.Name
	}
	return reference
}
