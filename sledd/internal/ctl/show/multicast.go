// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Multicast prints the sender's sessions, and what it dropped.
func (p *Printer) Multicast(told api.Multicast) {
	if !told.Running {
		_, _ = fmt.Fprintln(p.Out, "no sender runs: no node has requested an image by multicast within 60 s")
		return
	}
	Table(p.Out, p.Screen, multicastColumns, told.Sessions)
	if refused := refusedText(told.Refused); refused != "" {
		_, _ = fmt.Fprintln(p.Out, "requests dropped: "+refused)
	}
}

var multicastColumns = []Column[api.MulticastSession]{
	Col("image", func(s api.MulticastSession) string { return s.Image.String() }).Wraps(12),
	Col("group", func(s api.MulticastSession) string { return s.Group.String() }),
	Col("interface", func(s api.MulticastSession) string { return s.Interface.String() }).Spare(),
	Col("receivers", func(s api.MulticastSession) string { return strconv.FormatInt(s.Receivers, 10) }),
	Col("done", func(s api.MulticastSession) string { return strconv.FormatInt(s.Done, 10) }),
	Col("rate", multicastRate),
	Col("copies", func(s api.MulticastSession) string { return fmt.Sprintf("%.2f", s.Copies) }),
	Col("repairs", func(s api.MulticastSession) string { return wording.Bytes(s.Repairs) }).Spare(),
	Col("rejected", func(s api.MulticastSession) string { return strconv.FormatInt(s.Rejected, 10) }).Spare(),
}

// multicastRate is the rate of a session.
func multicastRate(s api.MulticastSession) string {
	if !s.Sending {
		return "idle"
	}
	return fmt.Sprintf("%d Mbit/s", s.Rate/1000)
}

// refusedText lists the reasons that counted.
func refusedText(refused map[string]int64) string {
	var words []string
	for why, count := range refused {
		if count > 0 {
			words = append(words, fmt.Sprintf("%d %s", count, wording.Clean(why)))
		}
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
