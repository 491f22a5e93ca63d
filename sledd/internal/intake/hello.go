// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/capacity"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// helloPause is the shortest time between two claims to be the same node from the same address.
const helloPause = 10 * time.Second

// Source is where a request comes from.
type Source struct {
	Address string // empty: not known
	// Link compares the address with the MACs of a machine; holder is the MAC that it belongs to, if it is another.
	// nil: nothing is known.
	Link func(claimed []string) (link admission.Link, holder string)
}

// Hello takes the claim of a machine, by one of its interfaces, to be a node, and returns the answer and the claim
// token. bearer is empty, a ticket, or the claim token of the same boot, which is the same claim: then no token is
// returned.
func (in *Intake) Hello(ctx context.Context, nic, bearer string, hello admission.Hello,
	from Source) (answer admission.Answer, issued string, err error) {
	if err = in.countHello(ctx, nic, bearer); err != nil {
		return answer, "", err
	}
	if !in.mayHello(nic, bearer, from) { // before anything is read: most of a flood ends here
		return answer, "", refusal.New(refusal.TooMany, "%s claims to be node %s too often: wait", from.Address, nic)
	}
	if err = in.readClaimKey(ctx); err != nil {
		return answer, "", err
	}
	err = in.DB.UpdateOf(ctx, nic, in.unit(func(tx *nodeTx) error {
		answer, issued = admission.Answer{}, ""
		if token.IsClaim(bearer) {
			answer, err = tx.sameClaim(bearer, hello)
			return err
		}
		evidence, incumbent, err := tx.ticket(bearer, hello.Boot)
		if err != nil {
			return err
		}
		claim := admission.Claim{Hello: hello, Evidence: evidence, From: incumbent}
		answer, issued, err = tx.newClaim(ctx, claim, from)
		return err
	}))
	if err == nil {
		in.live.note(issued, in.DB.Now())
	}
	return answer, issued, err
}

// mayHello reports whether a source may make another claim to be this MAC now. To repeat a claim is none.
func (in *Intake) mayHello(nic, bearer string, from Source) bool {
	return token.IsClaim(bearer) || from.Address == "" || in.hellos.Allow(nic+" "+from.Address, in.DB.Now(), 1)
}

// sameClaim answers a hello that was sent again.
func (tx *nodeTx) sameClaim(bearer string, hello admission.Hello) (admission.Answer, error) {
	claim, err := tx.claimOf(bearer)
	if err != nil {
		return admission.Answer{}, err
	}
	if claim.Hello.Boot != hello.Boot {
		return admission.Answer{}, refusal.New(refusal.Unauthorized,
			"the claim token is of another boot: say hello without it")
	}
	out, _ := tx.recordRequest(claim)
	if out.Standing == admission.Unknown {
		return admission.Answer{}, refusal.New(refusal.Unauthorized, "the claim has ended: say hello without its token")
	}
	return tx.answer(claim, out), nil
}

// mayClaim refuses claims beyond the budgets of those who are not admitted.
func (tx *nodeTx) mayClaim(ctx context.Context, claim admission.Claim) error {
	for _, other := range tx.Admission().Claims {
		if claim.Address != "" && other.Address == claim.Address && tx.Now.Before(other.Since.Add(helloPause)) {
			return refusal.New(refusal.TooMany, "%s claimed to be this node %s ago: wait", claim.Address,
				tx.Now.Sub(other.Since).Round(time.Second))
		}
	}
	if tx.Known() {
		return nil
	}
	return tx.in.discover(ctx, claim)
}

// bare reports whether there is no room to store a claim beside others. A node that is not declared needs room.
func (tx *nodeTx) bare(claim admission.Claim) (bool, error) {
	if len(claim.Evidence) > 0 || tx.Node() != nil && len(tx.Admission().Claims) == 0 {
		return false, nil
	}
	err := tx.in.Capacity.Allow(capacity.Claims)
	if tx.Node() == nil {
		return false, err
	}
	return err != nil, nil
}

// newClaim makes a claim to be the node.
func (tx *nodeTx) newClaim(ctx context.Context, claim admission.Claim, from Source) (admission.Answer, string, error) {
	hello := &claim.Hello
	hello.UUID, hello.Serial = nodetext.WithoutTokens(hello.UUID), nodetext.WithoutTokens(hello.Serial)
	claim.Address, claim.Link = from.Address, admission.LinkUnknown
	if from.Link != nil {
		claim.Link, claim.Holder = from.Link(tx.Interfaces())
	}
	tx.step(admission.Tick{})
	bare, err := tx.bare(claim)
	if err == nil {
		err = tx.mayClaim(ctx, claim)
	}
	if err != nil {
		return admission.Answer{}, "", err
	}
	text, err := tx.sealClaim(&claim)
	if err != nil {
		return admission.Answer{}, "", err
	}
	out := tx.step(admission.Arrive{Claim: claim, Bare: bare})
	if tx.Node() == nil && tx.lists(claim.ID) {
		tx.Status().Seen = tx.Now
		tx.Enter(api.Discovered)
	}
	return tx.answer(claim, out), text, nil
}

// lists reports whether a claim is among those that are stored.
func (tx *nodeTx) lists(id string) bool {
	return slices.ContainsFunc(tx.Admission().Claims, func(claim admission.Claim) bool { return claim.ID == id })
}

func (tx *nodeTx) answer(claim admission.Claim, out admission.Outcome) admission.Answer {
	return admission.Answer{Code: claim.Code, Nonce: claim.Nonce, Level: tx.in.DB.Policy.Required(tx.Tx),
		Want: out.Want}
}

// describeClaim takes the facts of a claim, which are a word of it. If that admits the claim, they are those of the
// node, and it gets its boot token. Else they are taken once, and only if the node is not declared: one that is
// declared sends them again when it is admitted.
func (tx *nodeTx) describeClaim(bearer string) (boot string, taken bool, err error) {
	claim, err := tx.claimOf(bearer)
	if err != nil {
		return "", false, err
	}
	switch out, _ := tx.recordRequest(claim); {
	case out.Standing == admission.Admitted:
		tx.SentBy(claim.ID)
		return tx.bootToken(claim.ID), true, nil
	case out.Standing == admission.Unknown:
		_, err = tx.claimOf(bearer)
		return "", false, err
	case tx.Node() != nil:
		return "", false, nil
	}
	if tx.step(admission.Describe{Claim: claim}).Standing == admission.Unknown {
		return "", false, refusal.New(refusal.TooMany, "the claim has sent its facts")
	}
	return "", true, nil
}
