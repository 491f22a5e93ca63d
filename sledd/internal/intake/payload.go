// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// confirmURL returns the URL by which the payload of the next plan confirms that it runs. Those of earlier plans end.
func (in *Intake) confirmURL(tx *nodeTx, record *token.Record) string {
	text, fresh := token.Mint(token.Payload, tx.MAC, tx.Generation(), tx.Now, operationalLife)
	fresh.Claim, fresh.Unwritten = record.Claim, true
	tx.SetTokens(token.Add(token.Without(tx.Tokens(), token.Payload), fresh, tx.Now))
	return strings.TrimSuffix(in.System.URL, "/") + "/up/" + text
}

// fromMemory is how a system was started of which no disk has anything.
const fromMemory = "memory"

// startedFromMemory notes that the node leaves the Sled system for what it has fetched.
func (tx *nodeTx) startedFromMemory(bound *nodetx.Binding) {
	tx.Status().Memory, tx.Status().Confirmed, tx.Status().Start = true, api.Prose{}, fromMemory
	payload := bound.Payload()
	if payload == nil {
		tx.Enter(api.Starting)
		return
	}
	tx.Status().OS = nil
	silent := cmp.Or(payload.Confirm, api.ConfirmNone) == api.ConfirmNone
	tx.RecordPayload(!silent)
	if silent { // nobody waits for its report
		tx.Enter(api.Unconfirmed)
		return
	}
	tx.Enter(api.Starting)
}

// Up takes the word of a payload that it runs. The token counts once, and opens nothing else.
func (in *Intake) Up(ctx context.Context, text string) error {
	unknown := refusal.New(refusal.NotFound, "no payload confirms with this")
	owner, is := token.Owner(text)
	if !is || !strings.HasPrefix(text, "sledp_") {
		return unknown
	}
	address, err := mac.FromPlain(owner)
	if err != nil {
		return unknown
	}
	return in.update(ctx, address, nil, func(tx *nodeTx) error {
		i := token.Find(tx.Tokens(), text, tx.Now)
		if i < 0 || tx.Tokens()[i].Purpose != token.Payload || tx.Tokens()[i].Generation != tx.Generation() {
			return unknown
		}
		if tx.Tokens()[i].Unwritten || tx.Status().Phase != api.Starting {
			return refusal.New(refusal.Forbidden, "node %s has not started this payload", address)
		}
		tx.confirmed("by http")
		return nil
	})
}

// confirmed notes that the payload of the node runs.
func (tx *nodeTx) confirmed(how string) {
	tx.SetTokens(token.Without(tx.Tokens(), token.Payload))
	tx.SettlePayload(true)
	started := tx.Status().Since
	tx.Status().Seen = tx.Now
	how = fmt.Sprintf("%s %.1f s after the jump", how, tx.Now.Sub(started).Seconds())
	tx.Status().Confirmed = nodetext.Clean(how)
	tx.Enter(api.Operational)
	tx.step(admission.Tick{})
	tx.Status().Progress, tx.Status().Code, tx.Status().Reason = nil, 0, api.Prose{}
	tx.AddEvent(api.Event{Kind: "operational", Generation: tx.Generation(), Seconds: tx.Now.Sub(started).Seconds(),
		Detail: nodetext.Clean("confirmed " + how), Level: tx.installedAt(tx.Generation())})
}
