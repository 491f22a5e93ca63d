// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"time"
)

// The kinds of waits.
const (
	WaitsForRival    = "rival"     // a secret is withheld for a time, in which a rival may show itself
	WaitsForDecision = "contested" // a secret is withheld until an operator decides between two machines
	WaitsForReset    = "handover"  // nobody is admitted until the machine was reset
	WaitsForAdmit    = "claim"     // a machine is admitted only if an operator acts
	WaitsForRelease  = "release"   // the store was restored, and an operator has not released the node
	WaitsForBoot     = "boot"      // what is requested happens at the next boot of the node
	WaitsForImage    = "image"     // the image of its job is not registered
	WaitsForPayload  = "payload"   // its payload has started, and has not confirmed
)

// Wait is why a node does not move on although nothing has failed.
type Wait struct {
	Kind   string    `json:"kind" enum:"rival,contested,handover,claim,release,boot,image,payload"`
	For    string    `json:"for" example:"a rival (rival_time)" doc:"For people: what it waits for"`
	Until  time.Time `json:"until,omitzero" doc:"When the wait ends at the latest; absent: time does not end it"`
	EndsBy string    `json:"ends_by,omitempty" example:"sledctl admit n1 CODE" doc:"Command that ends it"`
}

// Text is the wait in words, such as "waits until 23:18 for a rival (rival_time)"; empty without one.
func (w *Wait) Text() string {
	switch {
	case w == nil:
		return ""
	case w.Until.IsZero():
		return "waits for " + w.For
	}
	return fmt.Sprintf("waits until %s for %s", w.Until.Local().Format("15:04"), w.For)
}

// Hint is Text with the command that ends it; empty if none does.
func (w *Wait) Hint() string {
	if w == nil || w.EndsBy == "" {
		return ""
	}
	return fmt.Sprintf("%s; `%s` ends it", w.Text(), w.EndsBy)
}
