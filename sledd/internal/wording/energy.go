// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
)

// Energy returns what a node drew during a job, with its band, or why there is no figure; empty: it was not measured.
func Energy(e *api.Energy) string {
	if e == nil {
		return ""
	}
	band, refresh := "", ""
	if e.Least != nil && e.Most != nil {
		band = Joules(*e.Least) + " to " + Joules(*e.Most)
	}
	if e.Refresh > 0 {
		refresh = fmt.Sprintf(", the meter refreshes every %.1f s", e.Refresh)
	}
	switch {
	case e.Joules != nil:
		return fmt.Sprintf("%s (%s%s)", Joules(*e.Joules), band, refresh)
	case band != "":
		return fmt.Sprintf("%s, no figure: %s", band, e.Reason)
	}
	return fmt.Sprintf("no figure of its energy: %s", e.Reason)
}
