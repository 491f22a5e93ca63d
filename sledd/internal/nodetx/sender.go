// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"cmp"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/origin"
)

// sender is who requested a unit of work, for its events.
type sender struct {
	origin.Origin
	level, link string // of the incumbent, if it is the sender
}

// sign adds the sender to an event, unless the event is about another one.
func (s sender) sign(event *api.Event) {
	event.Actor, event.Via = cmp.Or(event.Actor, s.Actor), cmp.Or(event.Via, s.Via)
	if event.From != "" || event.Link != "" {
		return
	}
	event.From = s.From()
	event.Level, event.Link = cmp.Or(event.Level, s.level), cmp.Or(event.Link, s.link)
}

// From returns the address that the request came from; empty: not known.
func (tx *Tx) From() string { return tx.sender.From() }

// SentBy notes that the request was sent with a token of a claim. Of the incumbent, level and link are known.
func (tx *Tx) SentBy(claim string) {
	if incumbent := tx.Admission().Incumbent; incumbent != nil && claim != "" && incumbent.ID == claim {
		tx.sender.level, tx.sender.link = incumbent.Level.String(), string(incumbent.Link)
	}
}

// noteEvent is the event of a note of an admission. before is the incumbent before it.
func (tx *Tx) noteEvent(note admission.Note, detail api.Prose, before *admission.Incumbent) api.Event {
	event := api.Event{Kind: string(note.Kind), Generation: tx.Generation(), Detail: detail,
		From: note.Claim.Address, Link: string(note.Claim.Link)}
	switch {
	case note.Kind == admission.AdmittedAs:
		event.Level = note.Level.String()
		if evidence := admission.Evidence(note.Reason); evidence == admission.Person || evidence == admission.Unseen {
			event.Actor, event.Via = note.Claim.Operator.Name, note.Claim.Operator.Via
		}
		if before == nil || before.ID != note.Claim.ID { // it has booted
			event.BootID = nodetext.CleanIdentifier(note.Claim.Hello.Boot)
		}
	case note.Kind == admission.Left && before != nil:
		event.Level = before.Level.String()
	}
	return event
}
