// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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
	if !in.mayHello(nic, bearer, from) { // before anything is read: most of a flood ends here
		return answer, "", refusal.New(refusal.TooMany, "%s claims to be node %s too often: wait", from.Address, nic)
	}
	err = in.DB.UpdateOf(ctx, nic, in.unit(func(tx *nodeTx) error {
		answer, issued = admission.Answer{}, ""
		if token.IsClaim(bearer) {
			answer, err = tx.sameClaim(bearer, hello)
			return err
		}
		evidence, err := tx.ticket(bearer, hello)
		if err != nil {
			return err
		}
		if err := tx.mayClaim(ctx, from, evidence); err != nil {
			return err
		}
		answer, issued, err = tx.newClaim(hello, from, evidence)
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
	out, _ := tx.recordRequest(claim.ID)
	if out.Standing == admission.Unknown {
		return admission.Answer{}, refusal.New(refusal.Unauthorized, "the claim has ended: say hello without its token")
	}
	return tx.answer(claim, out), nil
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
	return admission.Claim{}, refusal.New(refusal.Unauthorized, "the claim is unknown or has ended: say hello again")
}

// ticket returns the evidence that comes with a hello. A ticket serves one boot.
func (tx *nodeTx) ticket(bearer string, hello admission.Hello) ([]admission.Evidence, error) {
	if bearer == "" {
		return nil, nil
	}
	record, err := tx.holder(bearer, token.Ticket, anyAge)
	if err != nil {
		return nil, err
	}
	if record.Boot != "" && record.Boot != hello.Boot {
		return nil, refusal.New(refusal.Unauthorized, "the ticket was used by another boot")
	}
	record.Boot = hello.Boot
	return []admission.Evidence{admission.Ticket}, nil
}

// mayClaim refuses claims beyond the budgets of those who are not admitted. A declared node has room for one claim
// without evidence even if others fill the store.
func (tx *nodeTx) mayClaim(ctx context.Context, from Source, evidence []admission.Evidence) error {
	tx.step(admission.Tick{})
	if len(evidence) == 0 && (tx.Node() == nil || len(tx.Admission().Claims) > 0) {
		if err := tx.in.Capacity.Allow(capacity.Claims); err != nil {
			return err
		}
	}
	for _, claim := range tx.Admission().Claims {
		if from.Address != "" && claim.Address == from.Address && tx.Now.Before(claim.Since.Add(helloPause)) {
			return refusal.New(refusal.TooMany, "%s claimed to be this node %s ago: wait", from.Address,
				tx.Now.Sub(claim.Since).Round(time.Second))
		}
	}
	if tx.Known() {
		return nil
	}
	return tx.in.discover(ctx, from.Address)
}

// newClaim adds a claim to those of the node.
func (tx *nodeTx) newClaim(hello admission.Hello, from Source,
	evidence []admission.Evidence) (admission.Answer, string, error) {
	text, record := token.Mint(token.Claim, tx.MAC, 0, tx.Now, tx.in.DB.Policy.ClaimAge())
	hello.UUID, hello.Serial = nodetext.WithoutTokens(hello.UUID), nodetext.WithoutTokens(hello.Serial)
	var code [5]byte
	var nonce [32]byte
	_, _ = rand.Read(code[:]) // never fails: the Go runtime ends the process first
	_, _ = rand.Read(nonce[:])
	claim := admission.Claim{ID: record.SHA256, Code: admission.Code(code), Nonce: hex.EncodeToString(nonce[:]),
		Hello: hello, Address: from.Address, Link: admission.LinkUnknown, Evidence: evidence}
	if from.Link != nil {
		claim.Link, claim.Holder = from.Link(tx.Interfaces())
	}
	out := tx.step(admission.Arrive{Claim: claim})
	if out.Standing == admission.Unknown {
		return admission.Answer{}, "", refusal.New(refusal.TooMany, "%s: wait", out.Reason)
	}
	if tx.Node() == nil {
		tx.Status().Seen = tx.Now
		tx.Enter(api.Discovered)
	}
	return tx.answer(claim, out), text, nil
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
	switch out, _ := tx.recordRequest(claim.ID); {
	case out.Standing == admission.Admitted:
		tx.SentBy(claim.ID)
		return tx.bootToken(claim.ID), true, nil
	case out.Standing == admission.Unknown:
		_, err = tx.claimOf(bearer)
		return "", false, err
	case tx.Node() != nil:
		return "", false, nil
	}
	if tx.step(admission.Describe{ID: claim.ID}).Standing == admission.Unknown {
		return "", false, refusal.New(refusal.TooMany, "the claim has sent its facts")
	}
	return "", true, nil
}
