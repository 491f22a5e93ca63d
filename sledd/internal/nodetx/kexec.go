// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// Outcomes of a kexec.
const (
	KexecAttempted = "attempted"
	KexecOpen      = "open" // jumped, and no report since
	KexecConfirmed = "confirmed"
	KexecMissed    = "missed"
)

// Kexecs is the record of the kexecs of a node, as stored. Another model under the same MAC starts a new record.
type Kexecs struct {
	Vendor     nodetext.Identifier `json:"vendor"`
	Product    nodetext.Identifier `json:"product"`
	Attempts   int64               `json:"attempts"`
	Confirmed  int64               `json:"confirmed"`
	Missed     int64               `json:"missed"`
	Outcome    string              `json:"outcome"` // of the newest
	Generation int64               `json:"generation"`
	Time       time.Time           `json:"time"`
	Payloads   Jumps               `json:"payloads,omitzero"`
}

// Jumps are those into payloads, which tell nothing about how an installed Linux starts.
type Jumps struct {
	api.Jumps
	Open bool `json:"open,omitempty"` // the newest is still to confirm
}

// DMI returns what the firmware reports of the machine; the unit has to be loaded with Facts.
func (tx *Tx) DMI() map[string]nodetext.Identifier {
	if facts := tx.Facts(); facts != nil {
		return facts.DMI
	}
	return nil
}

// SameModel reports whether the record of kexecs is of the machine that the facts show.
func (tx *Tx) SameModel() bool {
	dmi := tx.DMI()
	return tx.Kexecs().Vendor == dmi["vendor"] && tx.Kexecs().Product == dmi["product"]
}

// RecordJump notes that the node jumps into its system by kexec.
func (tx *Tx) RecordJump(generation int64) {
	kexecs := tx.kexecsOfModel()
	kexecs.Attempts++
	kexecs.Outcome, kexecs.Generation, kexecs.Time = KexecOpen, generation, tx.Now
	tx.outcomes = append(tx.outcomes, KexecAttempted)
}

func (tx *Tx) kexecsOfModel() *Kexecs {
	if !tx.SameModel() {
		dmi := tx.DMI()
		*tx.Kexecs() = Kexecs{Vendor: dmi["vendor"], Product: dmi["product"]}
	}
	return tx.Kexecs()
}

// RecordPayload notes that the node jumps into a payload; confirms: which reports that it runs.
func (tx *Tx) RecordPayload(confirms bool) {
	payloads := &tx.kexecsOfModel().Payloads
	payloads.Attempts++
	payloads.Open = confirms
}

// SettlePayload sets the outcome of the newest jump into a payload, if it has none.
func (tx *Tx) SettlePayload(confirmed bool) {
	payloads := &tx.Kexecs().Payloads
	switch {
	case !payloads.Open:
		return
	case confirmed:
		payloads.Confirmed++
	default:
		payloads.Missed++
	}
	payloads.Open = false
}

// ReopenJump takes back that the newest jump of a generation was missed.
func (tx *Tx) ReopenJump() {
	if kexecs := tx.Kexecs(); kexecs.Outcome == KexecMissed {
		kexecs.Missed--
		kexecs.Outcome = KexecOpen
	}
}

// SettleJump sets the outcome of the newest jump, if it has none.
func (tx *Tx) SettleJump(outcome string) {
	kexecs := tx.Kexecs()
	if kexecs.Outcome != KexecOpen {
		return
	}
	if outcome == KexecConfirmed {
		kexecs.Confirmed++
	} else {
		kexecs.Missed++
	}
	kexecs.Outcome = outcome
	tx.outcomes = append(tx.outcomes, outcome)
}

// Lose notes that the system that was started has not confirmed.
func (tx *Tx) Lose(reason nodetext.Prose) {
	tx.Enter(api.Failed)
	tx.Status().Code, tx.Status().Reason = 0, reason
	tx.SettleJump(KexecMissed)
	tx.SettlePayload(false)
}

// Keep stores the end of what the node has printed as its log.
func (tx *Tx) Keep(log nodetext.Raw) {
	if !log.IsZero() {
		tx.Writes.Put(key.Logs+tx.MAC, log.Bytes())
	}
}

// RecordColdStart notes a cold start of a node that was to start by a jump.
func (tx *Tx) RecordColdStart() {
	if status := tx.Status(); status.Phase == api.Starting && status.Start == "kexec" {
		status.Start = "fallback"
	}
}
