// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Facts takes the hardware of a node. Any live token will do: hardware does not depend on the binding.
func (in *Intake) Facts(ctx context.Context, mac, bearer string, facts api.Facts, uptime float64) (string, error) {
	renewed := ""
	err := in.update(ctx, mac, []nodetx.Want{nodetx.Facts}, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		renewed = in.renew(tx, record)
		tx.Status().Seen, tx.Status().BootID, tx.Status().Architecture = tx.Now, facts.BootID, reportedArchitecture(facts)
		if old := tx.Facts(); old != nil && old.BootID == facts.BootID {
			return nil // sent again
		}
		facts.Time = tx.Now
		tx.Writes.Put(key.Facts+mac, nodetx.Encode(facts))
		tx.AddEvent(api.Event{Kind: "facts", BootID: facts.BootID, Seconds: uptime})
		return nil
	})
	return renewed, err
}

// Log takes the last lines of a step.
func (in *Intake) Log(ctx context.Context, mac, bearer string, step int, text []byte) (string, error) {
	renewed := ""
	err := in.update(ctx, mac, nil, func(tx *nodeTx) error {
		allowed := current
		if tx.Rescue() != nil {
			allowed = anyAge
		}
		record, err := tx.authenticate(bearer, token.Boot, allowed)
		if err != nil {
			return err
		}
		renewed = in.renew(tx, record)
		tx.Status().Seen = tx.Now
		tx.Writes.Put(key.Logs+mac, text)
		tx.AddEvent(api.Event{Kind: "log", Generation: tx.Status().Generation, Step: step})
		return nil
	})
	return renewed, err
}
