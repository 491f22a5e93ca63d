// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// age is the generations that a token may have.
type age int

const (
	anyAge  age = iota // any live one of this node
	current            // not older than the binding
)

// NodeOf returns the MAC of the node that a request is about, which names one of its interfaces. Tokens hold that of
// the node.
func (in *Intake) NodeOf(ctx context.Context, address, bearer string) (string, error) {
	if owner, formed := token.Owner(bearer); !formed || owner == mac.Plain(address) {
		return address, nil
	}
	return in.DB.NodeOf(ctx, address)
}

// Authenticate refuses a request without a live token of the node, before its body is read. What the token is for is
// checked with the request itself.
func (in *Intake) Authenticate(ctx context.Context, address, bearer string) error {
	if err := owned(address, bearer); err != nil {
		return err
	}
	if in.live.holds(bearer, in.DB.Now()) {
		return nil
	}
	err := in.checkToken(ctx, address, bearer)
	if err == nil {
		in.live.note(bearer, in.DB.Now())
	}
	return err
}

// checkToken reads from the store whether a token is live.
func (in *Intake) checkToken(ctx context.Context, address, bearer string) error {
	if token.IsClaim(bearer) {
		if err := in.readClaimKey(ctx); err != nil {
			return err
		}
		tx, err := in.load(ctx, address)
		if err == nil {
			_, err = tx.claimOf(bearer)
		}
		return err
	}
	snapshot, err := in.DB.Store.Read(ctx, store.Key(key.Tokens+address))
	if err != nil {
		return err
	}
	var records []token.Record
	if kv, found := snapshot.One(0); found {
		if err := nodetx.Decode(kv, &records); err != nil {
			return err
		}
	}
	_, err = find(records, bearer, in.DB.Now())
	return err
}

// owned refuses what has not the form of a token of the node.
func owned(address, bearer string) error {
	if bearer == "" {
		return refusal.New(refusal.Unauthorized, "no token: send Authorization: Bearer TOKEN")
	}
	owner, formed := token.Owner(bearer)
	if !formed {
		return refusal.New(refusal.Unauthorized, "the token is not one of a node")
	}
	if owner != mac.Plain(address) {
		return refusal.New(refusal.Forbidden, "the token is not one of node %s", address)
	}
	return nil
}

// find returns the live record of a token.
func find(records []token.Record, bearer string, now time.Time) (*token.Record, error) {
	i := token.Find(records, bearer, now)
	if i < 0 {
		return nil, refusal.New(refusal.Unauthorized, "the token is unknown or expired")
	}
	return &records[i], nil
}

// authenticate finds the record of a node's token: 401 when it is not valid, 403 when it is for
// another node, purpose or generation, or when its holder is not admitted at the required level.
func (tx *nodeTx) authenticate(bearer string, purpose token.Purpose, allowed age) (*token.Record, error) {
	record, err := tx.holder(bearer, purpose, allowed)
	if err != nil {
		return nil, err
	}
	if may := tx.rights(record); !may.Plan {
		return nil, refusal.New(refusal.Forbidden, "%s", may.Reason)
	}
	return record, nil
}

// holder is authenticate at any level.
func (tx *nodeTx) holder(bearer string, purpose token.Purpose, allowed age) (*token.Record, error) {
	if err := owned(tx.MAC, bearer); err != nil {
		return nil, err
	}
	if token.IsClaim(bearer) {
		if _, err := tx.claimOf(bearer); err != nil {
			return nil, err
		}
		return nil, refusal.New(refusal.Forbidden, "the claim is not admitted: it may send facts and poll")
	}
	record, err := find(tx.Tokens(), bearer, tx.Now)
	if err != nil {
		return nil, err
	}
	if record.Purpose != purpose {
		return nil, refusal.New(refusal.Forbidden, "this needs a token for %s, it is one for %s", purpose, record.Purpose)
	}
	if allowed == current && record.Generation < tx.Generation() {
		return nil, refusal.New(refusal.Forbidden, "the token is of generation %d, the binding has generation %d",
			record.Generation, tx.Generation())
	}
	if err := tx.recordIncumbentRequest(record); err != nil {
		return nil, err
	}
	tx.SentBy(record.Claim)
	record.Used = true
	return record, nil
}

// renew returns another token of the same generation when one is past half of its life; else nothing.
func (in *Intake) renew(tx *nodeTx, record *token.Record) string {
	if !record.Stale(tx.Now) {
		return ""
	}
	text, fresh := token.Mint(token.Boot, tx.MAC, record.Generation, tx.Now, in.TokenLife)
	fresh.Seeded, fresh.Unwritten, fresh.Claim, fresh.Used = record.Seeded, record.Unwritten, record.Claim, record.Used
	tx.SetTokens(token.Add(tx.Tokens(), fresh, tx.Now))
	return text
}
