// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// EventKind returns what happened: the kind of the event, and the verb of its step.
func EventKind(e api.Event) string { return strings.TrimSpace(e.Kind + " " + e.Verb) }

// EventDetail returns the details of an event, and who requested it.
func EventDetail(e api.Event) string {
	var words []string
	if e.Generation > 0 {
		words = append(words, fmt.Sprintf("generation %d", e.Generation))
	}
	switch {
	case e.Step > 0 && e.Steps > 0:
		words = append(words, fmt.Sprintf("step %d/%d", e.Step, e.Steps))
	case e.Step > 0:
		words = append(words, fmt.Sprintf("step %d", e.Step))
	case e.Steps > 0:
		words = append(words, fmt.Sprintf("%d steps", e.Steps))
	}
	if e.Kind == "end" && e.Code != 0 {
		words = append(words, Code(e.Code))
	}
	if e.Seconds > 0 {
		words = append(words, Seconds(e.Seconds))
	}
	if e.Bytes > 0 {
		words = append(words, Bytes(e.Bytes))
	}
	if !e.Detail.IsZero() {
		words = append(words, e.Detail.String())
	}
	if e.Actor != "" {
		by := "by " + Clean(e.Actor) + Around(" via ", e.Via, "")
		if e.Kind != "admit" { // From is the address of the claim, which the detail has
			by += Around(" from ", e.From, "")
		}
		words = append(words, by)
	}
	return strings.Join(words, ", ")
}
