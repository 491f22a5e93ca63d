// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"regexp"
	"strings"
)

var macPattern = regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$|^([0-9a-f]{2}-){5}[0-9a-f]{2}$`)

// zeroMAC is what an interface without an address reports.
const zeroMAC = "00:00:00:00:00:00"

// LooksLikeMAC reports whether text has the form of a MAC, in any notation that ParseMAC reads.
func LooksLikeMAC(text string) bool { return macPattern.MatchString(strings.ToLower(text)) }

// ParseMAC reads the MAC of a machine with colons or hyphens, in any case, and returns it in lower case with colons.
// The zero address and group addresses, such as broadcast, are refused: no interface boots with one.
func ParseMAC(text string) (string, error) {
	if !LooksLikeMAC(text) {
		return "", fmt.Errorf("%q is not a MAC: want six hexadecimal pairs as in 52:54:00:77:00:01 or 52-54-00-77-00-01",
			text)
	}
	address := strings.ReplaceAll(strings.ToLower(text), "-", ":")
	if address == zeroMAC {
		return "", fmt.Errorf("%q is the zero address: want the MAC of the interface that boots", text)
	}
	if strings.ContainsRune("13579bdf", rune(address[1])) {
		return "", fmt.Errorf("%q is a group address (broadcast or multicast): want the MAC of the interface that boots",
			text)
	}
	return address, nil
}
