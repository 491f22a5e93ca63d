// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"time"
)

// KexecModel is the record of kexec on machines of one model.
type KexecModel struct {
	Vendor    Identifier `json:"vendor" doc:"As reported by the firmware (DMI)"`
	Product   Identifier `json:"product"`
	Nodes     int        `json:"nodes" doc:"Machines of the model that used kexec"`
	Attempts  int64      `json:"attempts" doc:"Number of kexecs. Those that are neither confirmed nor missed are still open"`
	Confirmed int64      `json:"confirmed" doc:"The installed system confirmed without a cold start in between"`
	Missed    int64      `json:"missed" doc:"The installed system did not confirm, or only after a cold start"`
	Rate      *float64   `json:"rate,omitempty" minimum:"0" maximum:"1" doc:"Share of confirmed among confirmed and missed; absent without either"`
	Last      string     `json:"last,omitempty" enum:"open,confirmed,missed" doc:"Outcome of the last kexec; absent: the machines have started payloads only"`
	Time      time.Time  `json:"time,omitzero" doc:"Time of the last kexec"`
	Payloads  Jumps      `json:"payloads,omitzero" doc:"Jumps into payloads, which count in none of the others"`
}

// Jumps counts those into payloads.
type Jumps struct {
	Attempts  int64 `json:"attempts" doc:"Number of jumps. Those that are neither confirmed nor missed are still open, or nothing confirms them"`
	Confirmed int64 `json:"confirmed" doc:"The payload confirmed"`
	Missed    int64 `json:"missed" doc:"The payload did not confirm"`
}

// String implements fmt.Stringer.
func (j Jumps) String() string {
	if j.Attempts == 0 {
		return ""
	}
	return fmt.Sprintf("%d, %d confirmed, %d missed", j.Attempts, j.Confirmed, j.Missed)
}

// KexecList is the list of all models, ordered by vendor and product.
type KexecList struct {
	Items []KexecModel `json:"items" nullable:"false"`
}

// Quirk names machines that boot=auto does not start by kexec. All patterns that are set must match; * matches any
// number of characters.
type Quirk struct {
	Match  QuirkMatch `json:"match"`
	Reason string     `json:"reason" doc:"What fails"`
	Source string     `json:"source,omitempty" doc:"Source of the information"`
	Origin string     `json:"origin,omitempty" enum:"shipped,local" doc:"Whether the quirk comes with sledd or from the site's file"`
}

// QuirkMatch holds patterns for the machine's DMI values.
type QuirkMatch struct {
	Vendor  string `json:"vendor,omitempty"`
	Product string `json:"product,omitempty"`
	Version string `json:"version,omitempty"`
	BIOS    string `json:"bios,omitempty"`
}

// QuirkList is the list of active quirks, those of the site first.
type QuirkList struct {
	Items []Quirk `json:"items" nullable:"false"`
}
