// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"time"
)

// Event is something that happened to a node's admission. A new generation and the passing of time are no events: each
// step considers them first.
type Event interface{ apply(w *work) }

// Arrive is a hello that made a claim. The claim is complete but for Since, Seen and Epoch. A hello with the token of a
// live claim is Speak. Bare: there is no room in the store to list it.
type Arrive struct {
	Claim Claim
	Bare  bool
}

// Speak is an authenticated request of the incumbent, or of a claim as its token has it: it may not be listed.
type Speak struct{ Claim Claim }

// Flood is that so many claims to be the node were made within a minute.
type Flood struct{ Claims int }

// Leave is the incumbent's report that it leaves the Sled system.
type Leave struct{ ID string }

// Describe is the facts of a claim, which it sends once.
type Describe struct{ Claim Claim }

// Prove is evidence for the claim with a code.
type Prove struct {
	Code     string
	Evidence Evidence
}

// Show is a claim code on the recorded console. At is the time of the line, in whole seconds.
type Show struct {
	Code string
	At   time.Time
}

// Expect opens a window. Reset: the machine was reset, or has lost its power. That ends all that ran before.
type Expect struct {
	For   time.Duration
	By    string
	Reset bool
}

// Admit is an operator's word for the claim with a code. Unseen: the operator did not read the code on the machine.
type Admit struct {
	Code   string
	Unseen bool
	By     Operator
}

// Refuse is an operator's word against the claim with a code.
type Refuse struct{ Code string }

// Revoke is an operator's word against the incumbent, and against all that claims to be the node.
type Revoke struct{}

// HandOver is a binding by which the machine changes hands. Nobody is admitted until an Expect with Reset.
type HandOver struct{}

// Seed is the seed of the generation, issued to the incumbent.
type Seed struct{ ID string }

// Tick only considers the time.
type Tick struct{}

// Standing is what a claim is after a step.
type Standing int

// What the sender of a request, or the claim that an operator named, is. Unknown: its claim ended, or never was.
const (
	Unknown Standing = iota
	Waiting
	Admitted
)

// Kind of a note.
type Kind string

// What a step did. The alarms are those of contract/admission.md, "Alarms".
const (
	Claimed    Kind = "claim"
	AdmittedAs Kind = "admit"
	Refused    Kind = "refuse"
	Left       Kind = "leave"
	Void       Kind = "void" // what an incumbent before reported of this generation does not count

	RivalAlarm  Kind = "rival"
	LinkAlarm   Kind = "link"
	WindowAlarm Kind = "window"
	BootsAlarm  Kind = "boots"
	SeedAlarm   Kind = "seed"
	FloodAlarm  Kind = "flood"
)

// Alarm reports whether a note is one that an operator has to acknowledge.
func (k Kind) Alarm() bool {
	return slices.Contains([]Kind{RivalAlarm, LinkAlarm, WindowAlarm, BootsAlarm, SeedAlarm, FloodAlarm}, k)
}

// Note is one thing that a step did, for events.
type Note struct {
	Kind   Kind
	Claim  Claim // that it is about; empty: the node
	Level  Level // of an admission
	Reason string
}

// Outcome is what there is to do after a step.
type Outcome struct {
	Standing Standing
	// Want is what is missing for the claim that sent the request, and Reason the same as a sentence.
	Want   []Want
	Reason string
	// Next is when the claim has to be considered again without another event; zero: not.
	Next time.Time
	// Wake: the incumbent's poll is to be answered, so that it sends another.
	Wake bool
	// Reset: an act of an operator has ended all that ran before. No ticket of the node counts any more.
	Reset bool
	Notes []Note
}
