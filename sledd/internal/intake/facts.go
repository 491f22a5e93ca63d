// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"maps"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/capacity"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Facts takes the hardware of a node, and returns its next token, if any. Any live token will do: hardware does not
// depend on the binding.
func (in *Intake) Facts(ctx context.Context, mac, bearer string, hardware report.Hardware) (string, error) {
	renewed, facts := "", hardware.Facts
	if err := in.readClaimKey(ctx); err != nil {
		return "", err
	}
	err := in.update(ctx, mac, []nodetx.Want{nodetx.Facts}, func(tx *nodeTx) error {
		if token.IsClaim(bearer) {
			var taken bool
			var err error
			if renewed, taken, err = tx.describeClaim(bearer); !taken {
				return err
			}
		} else {
			record, err := tx.holder(bearer, token.Boot, anyAge)
			if err != nil {
				return err
			}
			renewed = in.renew(tx, record)
		}
		tx.Status().Seen, tx.Status().BootID, tx.Status().Architecture = tx.Now, facts.BootID,
			reportedArchitecture(facts)
		old := tx.Facts()
		if old != nil && old.BootID == facts.BootID && same(old.Disks, facts.Disks) &&
			same(old.Partitions, facts.Partitions) {
			return nil // sent again
		}
		if err := in.takesFacts(ctx, tx, tx.linkOf(bearer)); err != nil {
			return err
		}
		facts.Time, facts.Missing = tx.Now, old.MissingIn(&facts)
		tx.Writes.Put(key.Facts+mac, nodetx.Encode(facts))
		if old != nil && old.BootID == facts.BootID {
			tx.AddEvent(api.Event{Kind: "disk", BootID: facts.BootID, Detail: nodetext.Clean("the disks have changed")})
			return nil
		}
		tx.AddEvent(api.Event{Kind: "facts", BootID: facts.BootID, Seconds: hardware.Uptime,
			Detail: nodetext.Clean(hardware.DroppedText())})
		return nil
	})
	if err == nil {
		in.live.note(renewed, in.DB.Now())
	}
	return renewed, err
}

// linkOf returns what is known of the link of a sender: of the incumbent, or of a claim.
func (tx *nodeTx) linkOf(bearer string) admission.Link {
	if token.IsClaim(bearer) {
		if claim, err := tx.claimOf(bearer); err == nil {
			return claim.Link
		}
	}
	if incumbent := tx.Admission().Incumbent; incumbent != nil {
		return incumbent.Link
	}
	return admission.LinkUnknown
}

func same(a, b []map[string]nodetext.Identifier) bool {
	return slices.EqualFunc(a, b, maps.Equal[map[string]nodetext.Identifier])
}

// takesFacts refuses facts that come too often, or for which there is no room.
func (in *Intake) takesFacts(ctx context.Context, tx *nodeTx, link admission.Link) error {
	if !in.facts.Allow(tx.MAC, tx.Now, 1) {
		return refusal.New(refusal.TooMany, "node %s sends facts too often", tx.MAC)
	}
	if tx.Node() != nil || tx.Facts() != nil {
		return nil
	}
	return in.describe(ctx, link)
}

// takesLog refuses a log when the node, or all together, have stored enough.
func (in *Intake) takesLog(tx *nodeTx, bytes int) error {
	if err := in.Capacity.Allow(capacity.Logs); err != nil {
		return err
	}
	if !in.logs.Allow(tx.MAC, tx.Now, bytes) {
		return refusal.New(refusal.TooMany, "node %s has sent %d bytes of logs within the hour", tx.MAC, logRate.Burst)
	}
	return nil
}

// Log takes the last lines of a step.
func (in *Intake) Log(ctx context.Context, mac, bearer string, step int, text api.Raw) (string, error) {
	renewed := ""
	err := in.update(ctx, mac, []nodetx.Want{nodetx.Events(recent)}, func(tx *nodeTx) error {
		allowed := current
		if tx.Detour() != nil {
			allowed = anyAge
		}
		record, err := tx.authenticate(bearer, token.Boot, allowed)
		if err != nil {
			return err
		}
		if err := in.takesLog(tx, len(text.Bytes())); err != nil {
			return err
		}
		renewed = in.renew(tx, record)
		tx.Status().Seen = tx.Now
		tx.Writes.Put(key.Logs+mac, text.Bytes())
		tx.addOnce(api.Event{Kind: "log", Generation: tx.Status().Generation, Step: step})
		return nil
	})
	return renewed, err
}
