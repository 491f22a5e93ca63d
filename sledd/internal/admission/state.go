// SPDX-License-Identifier: Apache-2.0

// Package admission decides when a machine that claims to be a node is that node (contract/admission.md). It is pure:
// a state, an event and the time result in another state and what there is to do. It has no clock, no store and no
// randomness.
package admission

import (
	"slices"
	"time"
)

// State is the admission of one node, as stored.
type State struct {
	// Generation that Floor and Boots are of.
	Generation int64 `json:"generation"`
	// Floor is the highest level at which the node was admitted in this generation.
	Floor Level `json:"floor"`
	// Epoch counts what ended all that ran before. A claim of an earlier epoch is nothing.
	Epoch int64 `json:"epoch,omitempty"`
	// Reset is when the epoch started: what the console showed before that was printed by another system.
	Reset time.Time `json:"reset,omitzero"`
	// OnDisk: an installed system has the machine and its console, and no boot was expected since.
	OnDisk bool `json:"on_disk,omitempty"`
	// Payload is when a payload ran last, which may print anything on the console.
	Payload time.Time `json:"payload,omitzero"`
	// HandedOver is when the machine changed hands. Nobody is admitted until its reset.
	HandedOver time.Time `json:"handed_over,omitzero"`
	// Starts is how long the machine took from a reset to its claim, the last few times.
	Starts []time.Duration `json:"starts,omitempty"`
	// Seeded is the boot that the seed was issued to last.
	Seeded *Seeded `json:"seeded,omitempty"`
	// Boots counts admissions since the last act of an operator, while the binding is not satisfied.
	Boots     int        `json:"boots,omitempty"`
	Window    *Window    `json:"window,omitempty"`
	Incumbent *Incumbent `json:"incumbent,omitempty"`
	// LastWord of the incumbents and claims before this one.
	LastWord time.Time `json:"last_word,omitzero"`
	// Rival is when a rival was found at level expected. Until an operator's act or evidence, nobody is admitted below
	// proven.
	Rival time.Time `json:"rival,omitzero"`
	// Overdue: the rival has been known for so long that the alarm "window" was raised.
	Overdue bool `json:"overdue,omitempty"`
	// Claims that wait, the oldest first: those with evidence, and a sample of the others. One that is not listed lives on
	// in its token, and is listed again when it speaks and there is room.
	Claims []Claim `json:"claims,omitempty"`
	// Listed is when a claim was listed last.
	Listed time.Time `json:"listed,omitzero"`
	// Proofs are codes of claims that are not listed, seen on the console or entered by an operator.
	Proofs []Proof `json:"proofs,omitempty"`
	// Ended are the IDs of claims of this epoch that are nothing any more, though their tokens are not too old.
	Ended []string `json:"ended,omitempty"`
	// Left is the ID of the incumbent that left the Sled system last: it may repeat that report.
	Left string `json:"left,omitempty"`
	// Back is what a claim is worth that returns from that incumbent; nil: nothing.
	Back *Back `json:"back,omitempty"`
	// Calls counts what may admit a waiting claim. A poll that was open before is answered, so that its claim speaks.
	Calls int64 `json:"calls,omitempty"`
	// Alarms that no operator has acknowledged. Steps leave them as they are: see Raise.
	Alarms []Alarm `json:"alarms,omitempty"`
}

// Seeded is one boot that has got the seed of a generation.
type Seeded struct {
	Generation int64     `json:"generation"`
	ID         string    `json:"id"` // of the claim
	Address    string    `json:"address,omitempty"`
	At         time.Time `json:"at"`
}

// Back is what the last incumbent was when it left the Sled system.
type Back struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
	// HoldFrom is when another machine may have been the node last.
	HoldFrom time.Time `json:"hold_from"`
	// NoSecret: it needed no window, as the node had no secret.
	NoSecret bool `json:"no_secret,omitempty"`
}

// Window is the time in which an act of an operator makes a boot expected.
type Window struct {
	Opened time.Time `json:"opened"`
	Ends   time.Time `json:"ends"`
	By     string    `json:"by"` // the act or the operator
	// Reset: the machine was off or was reset then, so that it takes its whole start until its claim.
	Reset bool `json:"reset,omitempty"`
}

// Proof is evidence for a claim that is not listed. The claim takes it with its next word.
type Proof struct {
	Code     string    `json:"code"`
	Evidence Evidence  `json:"evidence"`
	At       time.Time `json:"at"` // the second of the line, or when an operator entered it
	Operator Operator  `json:"operator,omitzero"`
}

// Operator is who admitted a claim, and by which program.
type Operator struct {
	Name string `json:"name,omitempty"`
	Via  string `json:"via,omitempty"`
}

// Claim is one boot that states that it is the node.
type Claim struct {
	ID       string     `json:"id"` // SHA-256 of the claim token
	Epoch    int64      `json:"epoch,omitempty"`
	Code     string     `json:"code"`
	Nonce    string     `json:"nonce"`
	Hello    Hello      `json:"hello"`
	Address  string     `json:"address"` // that the request came from
	Link     Link       `json:"link"`
	Holder   string     `json:"holder,omitempty"` // MAC that the address belongs to, if it is another
	Since    time.Time  `json:"since"`
	Seen     time.Time  `json:"seen"` // its last request
	Evidence []Evidence `json:"evidence,omitempty"`
	// From is the ID of the incumbent whose ticket it carried, with the evidence Return. An incumbent has it only if it is
	// the return: By may be better evidence.
	From string `json:"from,omitempty"`
	// Admitted is when an operator admitted it; zero: not.
	Admitted time.Time `json:"admitted,omitzero"`
	Operator Operator  `json:"operator,omitzero"` // who did
	// Spoke since the incumbent was admitted: it becomes a rival by the incumbent's next word.
	Spoke bool `json:"spoke,omitempty"`
	Rival bool `json:"rival,omitempty"`
	Facts bool `json:"facts,omitempty"` // it has sent its facts
}

// Incumbent is the claim that is admitted.
type Incumbent struct {
	Claim
	Level Level `json:"level"`
	// By is what admitted it: an evidence, "window", "succession" or "open".
	By string    `json:"by"`
	At time.Time `json:"at"`
	// HoldFrom is the time that the hold is counted from: the window was opened, or another claim or incumbent spoke last.
	HoldFrom time.Time `json:"hold_from"`
	// Asked is when a claim made it necessary to know whether it lives; zero: it has answered.
	Asked time.Time `json:"asked,omitzero"`
	// LastAsked is the newest such time, answered or not: it is not asked more often than it has time to answer.
	LastAsked time.Time `json:"last_asked,omitzero"`
	// Start is the time from the reset to its claim; 0: not known.
	Start time.Duration `json:"start,omitempty"`
	// Contested: it has a rival, and its own level cannot tell them apart.
	Contested bool `json:"contested,omitempty"`
}

// Rules are the times and limits of a site.
type Rules struct {
	Silence      time.Duration // an incumbent without a word for that long may have a successor
	Answer       time.Duration // and only when it had that long to answer
	Retry        time.Duration // a successor within that time needs no window
	Hold         time.Duration // secrets are withheld at expected: rival_time
	ClaimIdle    time.Duration // a claim without a request ends
	ClaimAge     time.Duration // any claim ends; an unsettled rival becomes overdue
	IncumbentLag time.Duration // an incumbent without a word ends
	IncumbentAge time.Duration // any incumbent ends
	Claims       int           // of one node that are listed
	Listing      time.Duration // between two claims that replace others in the list
	Proofs       int           // of each kind that are kept for claims that are not listed
	Ended        int           // claims that are remembered as ended
	Boots        int           // admissions without an act of an operator
	// RivalAlarm: a rival is an alarm only, and withholds nothing.
	RivalAlarm bool
}

// DefaultRules are those of contract/admission.md, "Times".
func DefaultRules() Rules {
	return Rules{Silence: 30 * time.Second, Answer: 10 * time.Second, Retry: 15 * time.Minute, Hold: 5 * time.Minute,
		ClaimIdle: 15 * time.Minute, ClaimAge: 24 * time.Hour, IncumbentLag: time.Hour, IncumbentAge: 7 * 24 * time.Hour,
		Claims: 4, Listing: 5 * time.Second, Proofs: 4, Ended: 8, Boots: 10}
}

// Node is what has to be known of the node beside its admission.
type Node struct {
	Level      Level // required by the site, the node or its binding
	Generation int64 // of its binding; 0: none
	Local      bool  // its boot script is "boot the local disk"
	Payload    bool  // a payload runs, which may print anything on the console
	Memory     bool  // its image runs from memory: each boot gets the seed
	Harmless   bool  // it runs from memory, and has no secret
	Unfinished bool  // it has a binding that is not satisfied
	// Start is the slowest known start of a machine of its model; 0: not known.
	Start time.Duration
}

// level returns the level that the evidence of a claim is worth.
func (c *Claim) level() Level {
	level := Open
	for _, evidence := range c.Evidence {
		level = max(level, evidence.Level())
	}
	return level
}

// strongest returns the evidence that the claim's level comes from.
func (c *Claim) strongest() Evidence {
	for _, evidence := range c.Evidence {
		if evidence.Level() == c.level() {
			return evidence
		}
	}
	return ""
}

func (c *Claim) add(evidence Evidence) {
	if !slices.Contains(c.Evidence, evidence) {
		c.Evidence = append(slices.Clone(c.Evidence), evidence)
	}
}

// Returned reports whether it is the next boot of the incumbent before.
func (i *Incumbent) Returned() bool { return i != nil && i.From != "" }

// Unproven reports whether a claim or the incumbent has no evidence of level proven.
func (s *State) Unproven() bool {
	return s.Incumbent != nil && s.Incumbent.level() < Proven ||
		slices.ContainsFunc(s.Claims, func(claim Claim) bool { return claim.level() < Proven })
}

// clone copies what a step may change.
func (s State) clone() State {
	s.Claims, s.Proofs, s.Ended = slices.Clone(s.Claims), slices.Clone(s.Proofs), slices.Clone(s.Ended)
	if s.Incumbent != nil {
		incumbent := *s.Incumbent
		s.Incumbent = &incumbent
	}
	return s
}

func (s *State) claim(fits func(*Claim) bool) *Claim {
	for i := range s.Claims {
		if fits(&s.Claims[i]) {
			return &s.Claims[i]
		}
	}
	return nil
}

// drop ends claims, and remembers when they spoke.
func (s *State) drop(ends func(Claim) bool) {
	s.Claims = slices.DeleteFunc(s.Claims, func(claim Claim) bool {
		if !ends(claim) {
			return false
		}
		s.LastWord = later(s.LastWord, claim.word())
		return true
	})
}

// word is when a claim spoke last that may be the node's; zero when its address belongs to another MAC.
func (c *Claim) word() time.Time {
	if c.Link == LinkOther {
		return time.Time{}
	}
	return c.Seen
}

// holder is who the address of a claim with a wrong link belongs to.
func (c *Claim) holder() string {
	if c.Holder == "" {
		return "another MAC"
	}
	return "MAC " + c.Holder
}

// Required returns the level that a claim must reach.
func (s *State) Required(node Node) Level {
	if s.Generation != node.Generation && s.Incumbent == nil {
		return node.Level
	}
	return max(node.Level, s.Floor)
}
