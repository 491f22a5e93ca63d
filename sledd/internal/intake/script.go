// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"

	"github.com/sled-fleet/sled/ipxe"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Script is what a node boots.
type Script struct {
	Text  string
	Local bool // boots the disk
}

// Script decides what a node boots by one of its interfaces. Anybody can request it: it changes nothing, and holds no
// secret.
func (in *Intake) Script(ctx context.Context, nic string) (Script, error) {
	tx, err := in.DB.LoadOf(ctx, nic, nodetx.Node, nodetx.Status, nodetx.BindingOf, nodetx.DetourOf)
	if err != nil {
		return Script{}, err
	}
	if tx.BootsDisk() || in.Capacity.Full() { // then the Sled system would only wait
		return Script{Text: ipxe.Local, Local: true}, nil
	}
	text, err := in.System.Script(nic, tx.Spec().Flavour)
	return Script{Text: text}, err
}

// Warm returns what to start a running node with, without its firmware, in place of a boot script; base is the boot
// server's URL for the operator. The ticket in it admits that boot. A node that would boot its own disk gets none. It
// uses the interface that the reference is the MAC of, else the one that names the node.
func (in *Intake) Warm(ctx context.Context, reference, base string) (api.Boot, error) {
	address, err := in.DB.Resolve(ctx, reference)
	if err != nil {
		return api.Boot{}, err
	}
	var with api.Boot
	err = in.update(ctx, address, nil, func(tx *nodeTx) error {
		if err := tx.mayStartWarm(reference); err != nil {
			return err
		}
		with = in.System.With(base, nicOf(reference, tx.MAC), tx.Spec().Flavour, tx.Spec().Architecture)
		ticket := tx.IssueTicket()
		with.Ticket, with.Expires = ticket.Token, ticket.Expires
		return nil
	})
	return with, err
}

// nicOf returns the interface that a reference is the MAC of, else the one that names the node.
func nicOf(reference, node string) string {
	if nic, err := mac.Parse(reference); err == nil {
		return nic
	}
	return node
}

func (tx *nodeTx) mayStartWarm(reference string) error {
	switch {
	case tx.Node() == nil:
		return refusal.New(refusal.NotFound, "node %s is not declared", reference)
	case tx.Held():
		return refusal.New(refusal.Conflict, "node %s is on hold since the store was restored: sledctl release", reference)
	case tx.BootsDisk():
		return refusal.New(refusal.Conflict,
			"the binding of node %s is satisfied (generation %d, phase %s), so it would start its own disk: "+
				"raise the generation first", reference, tx.Generation(), nodetx.PhaseText(tx.Status().Phase))
	case tx.in.DB.Policy.Required(tx.Tx) >= admission.Attested:
		return refusal.New(refusal.Conflict, "node %s requires level %s, which a start without its firmware does not "+
			"reach: reset it", reference, admission.Attested)
	}
	return tx.MayHaveTicket()
}

// recordBoot enters the phase of a node that was admitted in the Sled system. A node that is not declared, or whose
// binding is satisfied, keeps its phase.
func (tx *nodeTx) recordBoot() {
	tx.Status().Seen = tx.Now
	tx.restartedJob()
	missed := tx.bootedKernel()
	switch {
	case tx.Node() == nil:
		tx.Enter(api.Discovered)
	case tx.Satisfied() && !tx.Binding().Memory():
	case (tx.Detour() != nil || tx.Status().Run.Used && tx.returned()) && tx.Status().Phase != "": // it keeps what it was
	default:
		tx.Enter(api.Booting)
	}
	if missed {
		tx.missKernel(0, "kernel %s did not start: the node came through its firmware", tx.Binding().Kernel)
	}
}
