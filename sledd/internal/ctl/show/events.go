// SPDX-License-Identifier: Apache-2.0

package show

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// nameCells is the width of the names of nodes beside events.
const nameCells = 12

// EventLine is one event for people: time, in a feed of the fleet the node, kind, resulting phase, details and who.
func (p *Printer) EventLine(e api.Event, fleet bool) string {
	what := e.Kind
	if e.Verb != "" {
		what += " " + e.Verb
	}
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
		words = append(words, wording.Code(e.Code))
	}
	if e.Seconds > 0 {
		words = append(words, fmt.Sprintf("%.1f s", e.Seconds))
	}
	if e.Bytes > 0 {
		words = append(words, wording.Bytes(e.Bytes))
	}
	if !e.Detail.IsZero() {
		words = append(words, e.Detail.String())
	}
	if e.Actor != "" {
		words = append(words, "by "+wording.Clean(e.Actor)+
			wording.Around(" via ", e.Via, "")+wording.Around(" from ", e.From, ""))
	}
	const layout = "2006-01-02 15:04:05.000"
	phase := "-"
	if e.Phase != "" {
		phase = p.Screen.Phase(e.Phase)
	}
	at := e.Time.Local().Format(layout)
	if fleet {
		at += fmt.Sprintf("  %-*s", nameCells, cmp.Or(wording.Clean(e.Name), e.MAC))
	}
	line := fmt.Sprintf("%s  %-16s %s  %s", at, what, Fit(phase, PhaseCell), strings.Join(words, ", "))
	return p.Screen.Hang(strings.TrimRight(line, " "), len(layout)+Gap)
}
