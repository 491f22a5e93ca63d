// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"crypto/rand"
	"net/netip"
	"slices"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// links are those of sealed claims, by their number.
var links = []admission.Link{admission.LinkUnknown, admission.LinkSame, admission.LinkOther}

// sealClaim completes a claim by what sledd makes for it, and returns its token.
func (tx *nodeTx) sealClaim(claim *admission.Claim) (string, error) {
	sealed := token.Sealed{Since: tx.Now, Epoch: tx.Admission().Epoch, NIC: claim.Hello.NIC, Boot: claim.Hello.Boot,
		Link: byte(max(0, slices.Index(links, claim.Link)))} //nolint:gosec // one of three
	sealed.Address, _ = netip.ParseAddr(claim.Address) // none behind a proxy on this machine
	_, _ = rand.Read(sealed.Code[:])                   // never fails: the Go runtime ends the process first
	key := tx.in.claimKey.Load()                       // a hello reads it first
	text, err := key.Seal(tx.MAC, sealed)
	claim.ID, claim.Code, claim.Nonce = token.Hash(text), admission.Code(sealed.Code), key.Nonce(tx.MAC, text)
	return text, err
}

// openClaim returns the claim of a token. What is not in the token is known only of listed claims. A machine that was
// forgotten has to be discovered again.
func (tx *nodeTx) openClaim(bearer string) (admission.Claim, bool) {
	key := tx.in.claimKey.Load()
	if key == nil || !tx.Known() { // not read yet: the request is authenticated first, which does that
		return admission.Claim{}, false
	}
	sealed, is := key.Open(tx.MAC, bearer)
	if !is || int(sealed.Link) >= len(links) || !sealed.SameEpoch(tx.Admission().Epoch) {
		return admission.Claim{}, false
	}
	claim := admission.Claim{ID: token.Hash(bearer), Epoch: tx.Admission().Epoch, Code: admission.Code(sealed.Code),
		Nonce: key.Nonce(tx.MAC, bearer), Link: links[sealed.Link], Since: sealed.Since, Seen: sealed.Since,
		Hello: admission.Hello{Boot: sealed.Boot, NIC: sealed.NIC}}
	if sealed.Address.IsValid() {
		claim.Address = sealed.Address.String()
	}
	return claim, tx.in.DB.Policy.Holds(tx.Tx, claim)
}

// claimOf finds the claim of a claim token, or the incumbent that it has become.
func (tx *nodeTx) claimOf(bearer string) (admission.Claim, error) {
	if err := owned(tx.MAC, bearer); err != nil {
		return admission.Claim{}, err
	}
	state := tx.Admission()
	for _, claim := range state.Claims {
		if token.Same(bearer, claim.ID) {
			return claim, nil
		}
	}
	if now := state.Incumbent; now != nil && token.Same(bearer, now.ID) {
		entered := func(record token.Record) bool { return record.Claim == now.ID && record.Used }
		if slices.ContainsFunc(tx.Tokens(), entered) {
			return admission.Claim{}, refusal.New(refusal.Unauthorized,
				"the claim is admitted and has used its boot token: use that one, or say hello again")
		}
		return now.Claim, nil
	}
	if claim, lives := tx.openClaim(bearer); lives {
		return claim, nil
	}
	return admission.Claim{}, refusal.New(refusal.Unauthorized, "the claim is unknown or has ended: say hello again")
}
