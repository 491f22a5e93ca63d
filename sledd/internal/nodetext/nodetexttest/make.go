// SPDX-License-Identifier: Apache-2.0

// Package nodetexttest makes text of nodes for tests, and checks text that is printed. What is not acceptable panics.
package nodetexttest

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// HostKey is one in its form.
const HostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

// Address makes an address.
func Address(text string) nodetext.Address { return must(nodetext.ParseAddress(text)) }

// Key makes a host key.
func Key(text string) nodetext.HostKey { return must(nodetext.ParseHostKey(text)) }

// Digest makes a digest.
func Digest(text string) nodetext.Digest { return must(nodetext.ParseDigest(text)) }

// Identifier is one of a node's.
func Identifier(text string) nodetext.Identifier { return must(nodetext.ParseIdentifier(text)) }

// Cleaned is an identifier of any text, as a newer node may have sent it.
func Cleaned(text string) nodetext.Identifier { return nodetext.CleanIdentifier(text) }

// Facts makes the facts of one line.
func Facts(values map[string]string) map[string]nodetext.Identifier {
	facts := map[string]nodetext.Identifier{}
	for key, value := range values {
		facts[key] = Cleaned(value)
	}
	return facts
}

// Devices makes the facts of several lines.
func Devices(list ...map[string]string) []map[string]nodetext.Identifier {
	var devices []map[string]nodetext.Identifier
	for _, values := range list {
		devices = append(devices, Facts(values))
	}
	return devices
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

var tokens = regexp.MustCompile(`sled[a-z]_[0-9a-f_]{20,}`)

// Printable fails the test if a text has control or format characters other than those of keep, or a token.
func Printable(t testing.TB, what, text, keep string) {
	t.Helper()
	if found := Unsafe(text, keep); found != "" {
		t.Errorf("%s has %s: %q", what, found, text)
	}
}

// Unsafe returns what a text has that no consumer may print; empty for nothing.
func Unsafe(text, keep string) string {
	if !utf8.ValidString(text) {
		return "invalid UTF-8"
	}
	if tokens.MatchString(text) {
		return "a token"
	}
	for _, r := range text {
		if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) && !strings.ContainsRune(keep, r) {
			return "a control or format character"
		}
	}
	return ""
}
