// SPDX-License-Identifier: Apache-2.0

// Package mac reads MAC addresses: lower case with colons in data, with hyphens in URLs.
package mac

import (
	"fmt"
	"regexp"
	"strings"
)

var pattern = regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$|^([0-9a-f]{2}-){5}[0-9a-f]{2}$`)

// Parse reads a MAC with colons or with hyphens, in either case, and gives it in lower case with colons.
func Parse(text string) (string, error) {
	lower := strings.ToLower(text)
	if !pattern.MatchString(lower) {
		return "", fmt.Errorf("%q is not a MAC: want six hexadecimal pairs as in 52-54-00-77-00-01", text)
	}
	return strings.ReplaceAll(lower, "-", ":"), nil
}

// Hyphens gives the form for URLs.
func Hyphens(address string) string { return strings.ReplaceAll(address, ":", "-") }

// Plain gives the form within tokens: hexadecimal digits only.
func Plain(address string) string { return strings.ReplaceAll(address, ":", "") }
