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
		if boot.Local(v.status, v.binding != nil, v.wished()) {
			script = Script{Text: ipxe.Local, Local: true}
			if mint {
				v.status.Seen = v.now
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
		text, record := token.Mint(token.Boot, mac, v.wished(), v.now, f.TokenLife)
		v.tokens = token.Add(token.Without(v.tokens, token.Boot), record, v.now)
		v.boots()
		v.happened(api.Event{Kind: "script", Generation: v.wished(), Detail: "sled"})
		return f.render(v, text, &script)
	})
	return script, err
}

// boots enters the phase of a node that was given the Sled system. One that waits as wished, or is not declared, stays what it is.
func (v *view) boots() {
	v.status.Seen = v.now
	switch {
	case v.node == nil:
		v.enter(api.Discovered)
	case v.satisfied():
	default:
		v.enter(api.Booting)
	}
}

func (f *Fleet) render(v *view, text string, script *Script) error {
	flavour := ""
	if v.node != nil {
		flavour = v.node.Flavour
	}
	var err error
	script.Local = false
	script.Text, err = f.System.Script(v.mac, flavour, text)
	return err
}
