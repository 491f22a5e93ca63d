// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// age says which generations a token may be of.
type age int

const (
	anyAge  age = iota // any live one of this node
	current            // not older than the wish
)

// authenticate finds the record of a node's token: 401 when it does not live, 403 when it is for another node, purpose or wish.
func (v *view) authenticate(bearer string, purpose token.Purpose, allowed age) (*token.Record, error) {
	if bearer == "" {
		return nil, refuse(Unauthorized, "no token: send Authorization: Bearer TOKEN")
	}
	owner, formed := token.Owner(bearer)
	if !formed {
		return nil, refuse(Unauthorized, "the token is not one of a node")
	}
	if owner != mac.Plain(v.mac) {
		return nil, refuse(Forbidden, "the token is not one of node %s", v.mac)
	}
	i := token.Find(v.tokens, bearer, v.now)
	if i < 0 {
		return nil, refuse(Unauthorized, "the token is unknown or expired")
	}
	record := &v.tokens[i]
	if record.Purpose != purpose {
		return nil, refuse(Forbidden, "this needs a token for %s, it is one for %s", purpose, record.Purpose)
	}
	if allowed == current && record.Generation < v.wished() {
		return nil, refuse(Forbidden, "the token is of generation %d, generation %d is wished", record.Generation, v.wished())
	}
	return record, nil
}

// renew gives another token of the same generation when one is past half of its life; else nothing.
func (f *Fleet) renew(v *view, record *token.Record) string {
	if !record.Stale(v.now) {
		return ""
	}
	text, fresh := token.Mint(token.Boot, v.mac, record.Generation, v.now, f.TokenLife)
	fresh.Seeded = record.Seeded
	v.tokens = token.Add(v.tokens, fresh, v.now)
	return text
}
