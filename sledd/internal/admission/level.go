// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
)

// Level is how well an incumbent is known; a higher one is worth more.
type Level int

// The levels (contract/admission.md, "Levels").
const (
	Open     Level = iota // the first claim while no incumbent lives
	Expected              // in a window, or as a successor
	Proven                // with evidence from the machine or an operator
	Attested              // with evidence of what runs on it
)

var levels = []string{"open", "expected", "proven", "attested"}

func (l Level) String() string {
	if l < 0 || int(l) >= len(levels) {
		return fmt.Sprintf("level %d", int(l))
	}
	return levels[l]
}

// ParseLevel reads a level.
func ParseLevel(text string) (Level, error) {
	if i := slices.Index(levels, text); i >= 0 {
		return Level(i), nil
	}
	return 0, fmt.Errorf("level: %.40q is not one of %v", text, levels)
}

// MarshalText writes a level as its word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level from its word.
func (l *Level) UnmarshalText(text []byte) error {
	level, err := ParseLevel(string(text))
	*l = level
	return err
}

// Evidence is what raises a claim to a level.
type Evidence string

// The kinds of evidence (contract/admission.md, "Levels"). Unseen is an admission by an operator who did not read the
// code: an operator's act, but no proof. Return is worth what the incumbent was that the claim returns from: see Back.
const (
	Ticket      Evidence = "ticket"
	Console     Evidence = "console"
	Person      Evidence = "person"
	TPM         Evidence = "tpm"
	Attestation Evidence = "attestation"
	Unseen      Evidence = "unseen"
	Return      Evidence = "return"
)

// Level returns the level that the evidence is worth.
func (e Evidence) Level() Level {
	switch e {
	case Attestation:
		return Attested
	case Ticket, Console, Person, TPM:
		return Proven
	case Unseen:
		return Expected
	case Return:
	}
	return Open
}

// Link is what the neighbour table of the link knows about the address of a claim.
type Link string

// What is known of a link: the address belongs to the claimed MAC, to another one, or the table has
// no entry because a router is in between.
const (
	LinkSame    Link = "same"
	LinkOther   Link = "other"
	LinkUnknown Link = "unknown"
)

// Want is what is missing for the admission of a claim.
type Want string

// What a claim can wait for (contract/admission.md, "claim").
const (
	WantSilence Want = "silence"
	WantWindow  Want = "window"
	WantConsole Want = "console"
	WantPerson  Want = "person"
	WantTPM     Want = "tpm"
)
