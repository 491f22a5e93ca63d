// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// chooseStart turns boot=auto into reboot where kexec is not to be trusted, and records why. The
// stored binding does not change.
func (in *Intake) chooseStart(tx *nodeTx) {
	binding := tx.Binding()
	if binding == nil || binding.Image == "" || binding.Boot != "" && binding.Boot != "auto" {
		return
	}
	kexecs := tx.Kexecs()
	if found, is := in.Quirks.Find(nodetext.Strings(tx.DMI())); is {
		tx.noKexec = "quirk: " + found.Reason
		if found.Source != "" {
			tx.noKexec += ", " + found.Source
		}
	} else if kexecs.Attempts > 0 && kexecs.Outcome != nodetx.KexecConfirmed && tx.SameModel() {
		tx.noKexec = "its last kexec, of " + kexecs.Time.Format(time.DateOnly) + ", was not confirmed"
	}
	if tx.noKexec != "" {
		binding.Boot = "reboot"
	}
}

// noKexecText is what the event of a plan adds to its steps.
func (tx *nodeTx) noKexecText() string {
	if tx.noKexec == "" {
		return ""
	}
	return fmt.Sprintf(" (not kexec: %s)", tx.noKexec)
}

// recordStart notes that the node leaves the Sled system, by a jump or through its firmware.
func (tx *nodeTx) recordStart(way string, generation int64) {
	if way != "kexec" {
		tx.Status().Start = "reboot"
		return
	}
	tx.Status().Start = "kexec"
	tx.RecordJump(generation)
}

// recordSystemStart records how the installed system reports that it was started (kexec, firmware,
// or empty when it does not). Its report overrides what was seen from outside, even when it arrives
// late.
func (tx *nodeTx) recordSystemStart(how string, generation int64) {
	status := tx.Status()
	cold := how == "firmware" || how == "" && status.Start == "fallback"
	switch {
	case status.Start == "kexec" && cold:
		status.Start = "fallback"
	case status.Start == "fallback" && how == "kexec":
		status.Start = "kexec"
	}
	if tx.Kexecs().Generation != generation {
		return
	}
	if cold {
		tx.SettleJump(nodetx.KexecMissed)
		return
	}
	if how == "kexec" {
		tx.ReopenJump()
	}
	tx.SettleJump(nodetx.KexecConfirmed)
}
