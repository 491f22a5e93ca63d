// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Change is a binding, or with Unbind its removal, and its preconditions.
type Change struct {
	api.BulkBinding
	nodetx.Wanted
	TakeOver bool // also from another owner
	Waiting  bool // only while the node acts on it at once
}

// change applies a requested change, unless its preconditions do not hold. The image and the kernel are those that the
// binding names, if they exist.
func (tx *nodeTx) change(c Change, image, kernel *api.Image) error {
	for _, wanted := range []nodetx.Wanted{c.Wanted, nodetx.Exactly(c.IfRevision)} {
		if err := wanted.Check("the binding of "+tx.NameOr(c.Node), tx.RevisionOf(nodetx.BindingOf)); err != nil {
			return err
		}
	}
	if old := tx.Binding(); old != nil && old.Owner != "" && old.Owner != c.Owner && !c.TakeOver {
		return refusal.New(refusal.Conflict, "the binding of %s belongs to %s: name that owner, or take it over",
			tx.NameOr(c.Node), old.Owner)
	}
	if err := tx.checkMAC(c); err != nil {
		return err
	}
	if c.Unbind {
		return tx.unbindNode(c)
	}
	if tx.Node() == nil {
		return refusal.New(refusal.NotFound, "node %s is not declared: declare it before you bind it", c.Node)
	}
	if err := tx.checkWaiting(c); err != nil {
		return err
	}
	if err := tx.keepUserData(&c); err != nil {
		return err
	}
	if err := tx.bind(c.BindingSpec, image, kernel, c.Reimage); err != nil {
		return err
	}
	return tx.expect(c)
}

// checkMAC refuses a change of another machine than the caller means, which has the same name.
func (tx *nodeTx) checkMAC(c Change) error {
	if c.IfMAC == "" {
		return nil
	}
	address, err := mac.Parse(c.IfMAC)
	if err != nil {
		return refusal.Value("body.if_mac", c.IfMAC, err)
	}
	if address == tx.MAC || tx.Node() != nil && slices.Contains(tx.Node().MACs, address) {
		return nil
	}
	return refusal.Value("body.if_mac", c.IfMAC, fmt.Errorf("node %s has MAC %s here and not %s: is this the right "+
		"server?", tx.NameOr(c.Node), tx.MAC, address))
}

// checkWaiting refuses a change that is only for a node that waits, of another one.
func (tx *nodeTx) checkWaiting(c Change) error {
	status := tx.Status()
	waits := api.When(status.Phase, tx.Detour() != nil) == api.Now
	if !c.Waiting || waits && tx.Now.Sub(status.Seen) <= waitingSince {
		return nil
	}
	if waits {
		return refusal.New(refusal.Precondition, "node %s does not wait in the Sled system any more: it was last heard at %s",
			tx.NameOr(tx.MAC), status.Seen.UTC().Format(time.RFC3339))
	}
	return refusal.New(refusal.Precondition, "node %s does not wait in the Sled system: its phase is %s",
		tx.NameOr(tx.MAC), cmp.Or(string(status.Phase), api.Unseen))
}

// keepUserData fills in the user data that is stored, if that is requested.
func (tx *nodeTx) keepUserData(c *Change) error {
	if !c.KeepUserData || tx.Binding() == nil {
		return nil
	}
	if c.UserData != "" {
		return refusal.Value("body.user_data", "(not shown)", fmt.Errorf("user_data and keep_user_data exclude each other"))
	}
	var err error
	c.UserData, err = tx.fleet.UserData(tx.Binding())
	return err
}

// unbindNode removes the binding. The disk stays as it is.
func (tx *nodeTx) unbindNode(c Change) error {
	if err := tx.expect(c); err != nil || tx.Binding() == nil {
		return err
	}
	tx.before = tx.Binding()
	if tx.Satisfied() {
		tx.Status().Handover = 0
	}
	tx.AddEvent(api.Event{Kind: "unbind", Generation: tx.Generation()})
	tx.Unbind()
	return nil
}

// expect refuses a change if the generation is not the one that the caller planned with.
func (tx *nodeTx) expect(c Change) error {
	if c.IfGeneration == 0 || c.IfGeneration == tx.Generation() {
		return nil
	}
	if c.Unbind {
		return refusal.New(refusal.Precondition, "the binding of %s has generation %d, not %d", tx.NameOr(c.Node),
			tx.Generation(), c.IfGeneration)
	}
	return refusal.New(refusal.Precondition, "the binding of %s would get generation %d, not %d", tx.NameOr(c.Node),
		tx.Generation(), c.IfGeneration)
}
