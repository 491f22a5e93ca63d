// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"

	"github.com/sled-fleet/sled/ipxe"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Script is what a node boots.
type Script struct {
	Text  string
	Local bool // boots the disk, and holds no secret
}

// Script decides what a node boots. For the Sled system it mints a boot token, which revokes the
// node's earlier ones. Without mint (for a HEAD request) nothing changes and the text has no token.
func (in *Intake) Script(ctx context.Context, mac string, mint bool) (Script, error) {
	var script Script
	err := in.update(ctx, mac, nil, func(tx *nodeTx) error {
		if tx.BootsDisk() {
			script = Script{Text: ipxe.Local, Local: true}
			if mint {
				tx.Status().Seen = tx.Now
				tx.RecordColdStart()
				tx.AddEvent(api.Event{Kind: "script", Generation: tx.Generation(), Detail: nodetext.Clean("local")})
			}
			return nil
		}
		if !mint {
			return in.render(tx, "none", &script)
		}
		if !tx.Known() {
			if err := in.discover(ctx); err != nil {
				return err
			}
		}
		return in.render(tx, in.admit(tx, tx.bootPurpose()), &script)
	})
	return script, err
}

// admit mints the token for a boot of the Sled system and notes that boot. Boot tokens of before end.
func (in *Intake) admit(tx *nodeTx, detail string) string {
	text, record := token.Mint(token.Boot, tx.MAC, tx.Generation(), tx.Now, in.TokenLife)
	tx.SetTokens(token.Add(token.Without(tx.Tokens(), token.Boot), record, tx.Now))
	tx.recordBoot()
	tx.AddEvent(api.Event{Kind: "script", Generation: tx.Generation(), Detail: nodetext.Clean(detail)})
	return text
}

// Warm returns what to start a running node with, without its firmware, in place of a boot script;
// base is the boot server's URL for the operator. Nothing changes for a node that would boot its
// own disk.
func (in *Intake) Warm(ctx context.Context, reference, base string) (api.Boot, error) {
	address, err := in.DB.Resolve(ctx, reference)
	if err != nil {
		return api.Boot{}, err
	}
	var with api.Boot
	err = in.update(ctx, address, nil, func(tx *nodeTx) error {
		switch {
		case !tx.Known():
			return refusal.New(refusal.NotFound, "node %s does not exist", reference)
		case tx.BootsDisk():
			return refusal.New(refusal.Conflict,
				"the binding of node %s is satisfied (generation %d, phase %s), so it would start its own disk: "+
					"raise the generation first", reference, tx.Generation(), nodetx.PhaseText(tx.Status().Phase))
		}
		with = in.System.With(base, tx.MAC, tx.Spec().Flavour, tx.Spec().Architecture, in.admit(tx, "warm"))
		return nil
	})
	return with, err
}

// recordBoot enters the phase of a node that starts the Sled system. A node that is not declared,
// or whose binding is satisfied, keeps its phase.
func (tx *nodeTx) recordBoot() {
	tx.Status().Seen = tx.Now
	switch {
	case tx.Node() == nil:
		tx.Enter(api.Discovered)
	case tx.Satisfied():
	case tx.Rescue() != nil && tx.Status().Phase != "": // it keeps what it was
	default:
		tx.Enter(api.Booting)
	}
}

// bootPurpose is why a node starts the Sled system.
func (tx *nodeTx) bootPurpose() string {
	if tx.Rescue() != nil {
		return "rescue"
	}
	return "sled"
}

func (in *Intake) render(tx *nodeTx, text string, script *Script) error {
	var err error
	script.Local = false
	script.Text, err = in.System.Script(tx.MAC, tx.Spec().Flavour, text)
	return err
}
