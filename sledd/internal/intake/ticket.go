// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Ticket returns the ticket of an incumbent for its own next boot (contract/admission.md, Return).
func (in *Intake) Ticket(ctx context.Context, mac, bearer string) (ticket, renewed string, err error) {
	err = in.update(ctx, mac, nil, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		if err := tx.mayReturn(); err != nil {
			return err
		}
		tx.Status().Seen = tx.Now
		ticket, renewed = tx.IssueReturn(record.Claim), in.renew(tx, record)
		return nil
	})
	return ticket, renewed, err
}

func (tx *nodeTx) mayReturn() error {
	if err := tx.MayHaveTicket(); err != nil {
		return err //nolint:wrapcheck // complete
	}
	if tx.in.DB.Policy.Required(tx.Tx) >= admission.Attested {
		return refusal.New(refusal.Conflict, "node %s requires attested: without a reset it has the measurements of the "+
			"system before", tx.NameOr(tx.MAC))
	}
	if reason := tx.in.DB.Policy.MayReturn(tx.Tx); reason != "" {
		return refusal.New(refusal.Forbidden, "no ticket for the next boot: %s", reason)
	}
	return nil
}

// ticket returns what a hello's ticket is evidence of, and for a return the incumbent that requested it. A ticket
// serves one boot.
func (tx *nodeTx) ticket(bearer, boot string) (evidence []admission.Evidence, from string, err error) {
	if bearer == "" {
		return nil, "", nil
	}
	record, err := tx.holder(bearer, token.Ticket, anyAge)
	if err != nil {
		return nil, "", err
	}
	if record.Boot != "" && record.Boot != boot {
		return nil, "", refusal.New(refusal.Unauthorized, "the ticket was used by another boot")
	}
	record.Boot = boot
	if record.Claim != "" {
		return []admission.Evidence{admission.Return}, record.Claim, nil
	}
	return []admission.Evidence{admission.Ticket}, "", nil
}
