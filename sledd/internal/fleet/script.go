// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"

	"github.com/sled-fleet/sled/ipxe"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Script is what a node boots.
type Script struct {
	Text  string
	Local bool // boots the disk, and holds no secret
}

// Script decides what a node boots. For the Sled system it mints a boot token, which ends the node's earlier ones. Without mint
// (for a HEAD request) nothing changes and the text is without a token.
func (f *Fleet) Script(ctx context.Context, mac string, mint bool) (Script, error) {
	var script Script
	err := f.update(ctx, mac, nil, func(v *view) error {
		if v.local() {
			script = Script{Text: ipxe.Local, Local: true}
			if mint {
				v.status.Seen = v.now
				v.fallsBack()
				v.happened(api.Event{Kind: "script", Generation: v.wished(), Detail: "local"})
			}
			return nil
		}
		if v.status.Phase == "" && v.node == nil && f.Hub.Phases()[api.Discovered] >= maxDiscovered {
			return refuse(Busy, "%d machines are discovered and not declared, no more are taken: delete some", maxDiscovered)
		}
		if !mint {
			return f.render(v, "none", &script)
		}
		return f.render(v, f.admit(v, v.purpose()), &script)
	})
	return script, err
}

// local says whether the node boots its own disk.
func (v *view) local() bool {
	return boot.Local(v.status, v.binding != nil, v.wished(), v.rescue != nil)
}

// admit mints the token for a boot of the Sled system and notes that boot. Boot tokens of before end.
func (f *Fleet) admit(v *view, detail string) string {
	text, record := token.Mint(token.Boot, v.mac, v.wished(), v.now, f.TokenLife)
	v.tokens = token.Add(token.Without(v.tokens, token.Boot), record, v.now)
	v.boots()
	v.happened(api.Event{Kind: "script", Generation: v.wished(), Detail: detail})
	return text
}

// Warm says what a running node is to be started with, without its firmware, in place of a boot script; base is where the operator reaches
// the boot server. Nothing changes for a node that would boot its own disk.
func (f *Fleet) Warm(ctx context.Context, reference, base string) (api.Boot, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Boot{}, err
	}
	var with api.Boot
	err = f.update(ctx, address, nil, func(v *view) error {
		switch {
		case !v.known():
			return refuse(NotFound, "node %s does not exist", reference)
		case v.local():
			return refuse(Conflict, "node %s has done what is wished of it (generation %d, phase %s) and would start its own disk: raise the generation first",
				reference, v.wished(), dash(v.status.Phase))
		}
		with = f.System.With(base, v.mac, v.declared().Flavour, v.declared().Architecture, f.admit(v, "warm"))
		return nil
	})
	return with, err
}

// boots enters the phase of a node that was given the Sled system. One that waits as wished, or is not declared, stays what it is.
func (v *view) boots() {
	v.status.Seen = v.now
	switch {
	case v.node == nil:
		v.enter(api.Discovered)
	case v.satisfied():
	case v.rescue != nil && v.status.Phase != "": // it keeps what it was
	default:
		v.enter(api.Booting)
	}
}

// purpose is what for a node was given the Sled system.
func (v *view) purpose() string {
	if v.rescue != nil {
		return "rescue"
	}
	return "sled"
}

func (f *Fleet) render(v *view, text string, script *Script) error {
	var err error
	script.Local = false
	script.Text, err = f.System.Script(v.mac, v.declared().Flavour, text)
	return err
}

// declared is the node as declared; empty when nobody did.
func (v *view) declared() api.NodeSpec {
	if v.node == nil {
		return api.NodeSpec{}
	}
	return *v.node
}
