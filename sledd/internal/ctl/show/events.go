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
	const layout = "2006-01-02 15:04:05.000"
	phase := "-"
	if e.Phase != "" {
		phase = p.Screen.Phase(e.Phase)
	}
	at := e.Time.Local().Format(layout)
	if fleet {
		at += fmt.Sprintf("  %-*s", nameCells, cmp.Or(wording.Clean(e.Name), e.MAC))
	}
	line := fmt.Sprintf("%s  %-16s %s  %s", at, wording.EventKind(e), Fit(phase, PhaseCell),
		wording.EventDetail(e))
	return p.Screen.Hang(strings.TrimRight(line, " "), len(layout)+Gap)
}
