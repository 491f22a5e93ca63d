// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// Incumbent names the admitted machine, and the time since its admission.
func Incumbent(of *api.Incumbent, now time.Time) string {
	if of == nil {
		return "nobody"
	}
	return fmt.Sprintf("level %s by %s, from %s, %s ago", of.Level, of.By, Dash(of.Address), Age(now, of.Admitted))
}

// Window returns the end of the time in which a boot is expected.
func Window(window *api.Window) string {
	if window == nil {
		return "no"
	}
	return fmt.Sprintf("until %s, by %s", Time(window.Ends), window.By)
}

// ClaimedName returns the name of the node of an admission, else its MAC.
func ClaimedName(of api.Admission) string {
	return cmp.Or(of.Name, of.MAC)
}

// Alarm returns an alarm without its kind.
func Alarm(alarm api.Alarm, now time.Time) string {
	return fmt.Sprintf("%s (%s, last %s ago)", alarm.Detail, Times(alarm.Count), Age(now, alarm.Last))
}

// AlarmKinds lists the kinds of the alarms of a node.
func AlarmKinds(n api.Node) string {
	var kinds []string
	for _, alarm := range n.Alarms {
		if !slices.Contains(kinds, alarm.Kind) {
			kinds = append(kinds, alarm.Kind)
		}
	}
	return strings.Join(kinds, ",")
}
