// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// KexecModel is how well machines of one model start an installed system by kexec.
type KexecModel struct {
	Vendor    string    `json:"vendor" doc:"As the firmware names it (DMI)"`
	Product   string    `json:"product"`
	Nodes     int       `json:"nodes" doc:"Machines of that model that tried"`
	Attempts  int64     `json:"attempts" doc:"Jumps. Those that are neither confirmed nor missed are under way"`
	Confirmed int64     `json:"confirmed" doc:"The installed system said that it runs, and no cold start lay between"`
	Missed    int64     `json:"missed" doc:"It did not, or only after a cold start"`
	Rate      *float64  `json:"rate,omitempty" minimum:"0" maximum:"1" doc:"Confirmed among those that have an outcome; absent while none has"`
	Last      string    `json:"last" enum:"open,confirmed,missed" doc:"Outcome of the newest jump"`
	Time      time.Time `json:"time" doc:"When that was"`
}

// KexecList is all models, by vendor and product.
type KexecList struct {
	Items []KexecModel `json:"items" nullable:"false"`
}

// Quirk says which machines are not to be started by kexec. Each pattern that is given must match; * stands for any run of characters.
type Quirk struct {
	Match  QuirkMatch `json:"match"`
	Reason string     `json:"reason" doc:"What goes wrong"`
	Source string     `json:"source,omitempty" doc:"Who says so"`
	Origin string     `json:"origin,omitempty" enum:"shipped,local" doc:"Whether it comes with sledd or from the file of this site"`
}

// QuirkMatch is patterns over what the firmware says of a machine (DMI).
type QuirkMatch struct {
	Vendor  string `json:"vendor,omitempty"`
	Product string `json:"product,omitempty"`
	Version string `json:"version,omitempty"`
	BIOS    string `json:"bios,omitempty"`
}

// QuirkList is the quirks in force, those of this site first.
type QuirkList struct {
	Items []Quirk `json:"items" nullable:"false"`
}
