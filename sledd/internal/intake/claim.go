// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// pollClaim answers the poll of a claim: with a boot token once it is admitted, else with nothing when it should ask
// again. It waits until something may have admitted it.
func (in *Intake) pollClaim(ctx context.Context, mac, bearer string, wait time.Duration) (Answer, error) {
	wake, forget := in.Hub.Wait(mac)
	defer forget()
	var answer Answer
	var pause time.Duration
	var calls int64
	_, err := in.inTurn(ctx, func() (Answer, error) {
		var err error
		answer, pause, calls, err = in.pollClaimOnce(ctx, mac, bearer)
		return answer, err
	})
	if err != nil || answer.Token != "" {
		return answer, err
	}
	replaced, leave := in.claimPolls.enter(token.Hash(bearer))
	defer leave()
	timer := time.NewTimer(min(wait, pause))
	defer timer.Stop()
	for {
		select {
		case <-wake:
		case <-replaced:
			return Answer{}, nil
		case <-timer.C:
			return Answer{}, nil
		case <-ctx.Done():
			return Answer{}, nil
		}
		tx, err := in.load(ctx, mac)
		if err != nil || tx.Admission().Calls != calls {
			return Answer{}, err
		}
	}
}

// pollClaimOnce takes the word of a claim. pause is how long nothing can admit it but an event, and calls the number
// of those so far.
func (in *Intake) pollClaimOnce(ctx context.Context, mac, bearer string) (answer Answer, pause time.Duration,
	calls int64, err error) {
	if err = in.readClaimKey(ctx); err != nil {
		return answer, 0, 0, err
	}
	err = in.update(ctx, mac, nil, func(tx *nodeTx) error {
		answer, pause = Answer{}, maxPause
		claim, err := tx.claimOf(bearer)
		if err != nil {
			return err
		}
		out, recorded := tx.recordRequest(claim)
		if recorded && (out.Standing == admission.Admitted || tx.Node() == nil) {
			tx.Status().Seen = tx.Now
		}
		switch out.Standing {
		case admission.Admitted:
			answer.Token = tx.bootToken(claim.ID)
		case admission.Waiting:
			if !out.Next.IsZero() {
				pause = max(0, out.Next.Sub(tx.Now))
			}
		case admission.Unknown:
			_, err = tx.claimOf(bearer)
			return err
		}
		calls = tx.Admission().Calls
		return nil
	})
	return answer, pause, calls, err
}

// bootToken issues a boot token to the claim that is admitted.
func (tx *nodeTx) bootToken(claim string) string {
	text, record := token.Mint(token.Boot, tx.MAC, tx.Generation(), tx.Now, tx.in.TokenLife)
	record.Claim, record.Unwritten = claim, true
	tx.SetTokens(token.Add(tx.Tokens(), record, tx.Now))
	return text
}

// maxPause is longer than any poll.
const maxPause = time.Hour

// openPolls are the polls of claims that wait, one for each claim. Anybody can have a claim, and each poll that waits
// reads the store when something happens to the node.
type openPolls struct {
	mu   sync.Mutex
	open map[string]chan struct{} // by the hash of the claim token
}

// enter ends the poll that waits with the same token. replaced is closed by the next one.
func (p *openPolls) enter(claim string) (replaced <-chan struct{}, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, waits := p.open[claim]; waits {
		close(before)
	}
	if p.open == nil {
		p.open = map[string]chan struct{}{}
	}
	own := make(chan struct{})
	p.open[claim] = own
	return own, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open[claim] == own {
			delete(p.open, claim)
		}
	}
}
