// SPDX-License-Identifier: Apache-2.0

// Package mac writes MAC addresses in the forms that sledd needs: lower case with colons in data, with hyphens in URLs.
package mac

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// Parse reads a MAC with colons or with hyphens, in upper or lower case, and returns it in lower case with colons.
// An address that no machine has is refused.
func Parse(text string) (string, error) { return api.ParseMAC(text) }

// Looks reports whether text has the form of a MAC, also of one that no machine has.
func Looks(text string) bool { return api.LooksLikeMAC(text) }

// Hyphens returns the form for URLs.
func Hyphens(address string) string { return strings.ReplaceAll(address, ":", "-") }

// Plain returns the form within tokens: hexadecimal digits only.
func Plain(address string) string { return strings.ReplaceAll(address, ":", "") }

// FromPlain reads the form within tokens.
func FromPlain(digits string) (string, error) {
	var parts []string
	for at := 0; at+2 <= len(digits); at += 2 {
		parts = append(parts, digits[at:at+2])
	}
	return Parse(strings.Join(parts, ":"))
}
