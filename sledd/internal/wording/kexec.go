// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// SuccessRate returns the rate of kexecs that were confirmed.
func SuccessRate(rate *float64) string {
	if rate == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", *rate*100)
}

// QuirkMatch lists what a quirk matches.
func QuirkMatch(m api.QuirkMatch) string {
	var parts []string
	matches := [][2]string{{"vendor", m.Vendor}, {"product", m.Product}, {"version", m.Version}, {"bios", m.BIOS}}
	for _, part := range matches {
		if part[1] != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", part[0], part[1]))
		}
	}
	return strings.Join(parts, " ")
}
