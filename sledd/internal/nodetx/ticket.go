// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// ticketLife is how long a ticket can be used.
const ticketLife = 15 * time.Minute

// IssueTicket makes a token that proves one claim of the node. An earlier one ends.
func (tx *Tx) IssueTicket() api.TicketToken {
	text, record := token.Mint(token.Ticket, tx.MAC, 0, tx.Now, ticketLife)
	tx.SetTokens(token.Add(token.Without(tx.Tokens(), token.Ticket), record, tx.Now))
	return api.TicketToken{Token: text, Expires: record.Expires}
}

// IssueReturn makes a token for the next boot of an incumbent. An earlier one ends.
func (tx *Tx) IssueReturn(claim string) string {
	text, record := token.Mint(token.Ticket, tx.MAC, 0, tx.Now, ticketLife)
	record.Claim = claim
	tx.SetTokens(token.Add(token.WithoutReturn(tx.Tokens()), record, tx.Now))
	return text
}
