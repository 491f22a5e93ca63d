// SPDX-License-Identifier: Apache-2.0

// Package mac writes MAC addresses in the forms that sledd needs: lower case with colons in data, with hyphens in URLs.
package mac

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// Parse reads a MAC with colons or with hyphens, in either case, and gives it in lower case with colons.
func Parse(text string) (string, error) { return api.ParseMAC(text) }

// Hyphens gives the form for URLs.
func Hyphens(address string) string { return strings.ReplaceAll(address, ":", "-") }

// Plain gives the form within tokens: hexadecimal digits only.
func Plain(address string) string { return strings.ReplaceAll(address, ":", "") }
