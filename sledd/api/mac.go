// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"regexp"
	"strings"
)

var macPattern = regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$|^([0-9a-f]{2}-){5}[0-9a-f]{2}$`)

// ParseMAC reads a MAC with colons or hyphens, in any case, and returns it in lower case with colons.
func ParseMAC(text string) (string, error) {
	lower := strings.ToLower(text)
	if !macPattern.MatchString(lower) {
		return "", fmt.Errorf("%q is not a MAC: want six hexadecimal pairs as in 52:54:00:77:00:01 or 52-54-00-77-00-01",
			text)
	}
	return strings.ReplaceAll(lower, "-", ":"), nil
}
