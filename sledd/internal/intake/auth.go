// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// age says which generations a token may be of.
type age int

const (
	anyAge  age = iota // any live one of this node
	current            // not older than the binding
)

// authenticate finds the record of a node's token: 401 when it is not valid, 403 when it is for
// another node, purpose or generation.
func (tx *nodeTx) authenticate(bearer string, purpose token.Purpose, allowed age) (*token.Record, error) {
	if bearer == "" {
		return nil, refusal.New(refusal.Unauthorized, "no token: send Authorization: Bearer TOKEN")
	}
	owner, formed := token.Owner(bearer)
	if !formed {
		return nil, refusal.New(refusal.Unauthorized, "the token is not one of a node")
	}
	if owner != mac.Plain(tx.MAC) {
		return nil, refusal.New(refusal.Forbidden, "the token is not one of node %s", tx.MAC)
	}
	i := token.Find(tx.Tokens(), bearer, tx.Now)
	if i < 0 {
		return nil, refusal.New(refusal.Unauthorized, "the token is unknown or expired")
	}
	record := &tx.Tokens()[i]
	if record.Purpose != purpose {
		return nil, refusal.New(refusal.Forbidden, "this needs a token for %s, it is one for %s", purpose, record.Purpose)
	}
	if allowed == current && record.Generation < tx.Generation() {
		return nil, refusal.New(refusal.Forbidden, "the token is of generation %d, the binding has generation %d",
			record.Generation, tx.Generation())
	}
	return record, nil
}

// renew gives another token of the same generation when one is past half of its life; else nothing.
func (in *Intake) renew(tx *nodeTx, record *token.Record) string {
	if !record.Stale(tx.Now) {
		return ""
	}
	text, fresh := token.Mint(token.Boot, tx.MAC, record.Generation, tx.Now, in.TokenLife)
	fresh.Seeded = record.Seeded
	tx.SetTokens(token.Add(tx.Tokens(), fresh, tx.Now))
	return text
}
