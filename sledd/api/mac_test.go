// SPDX-License-Identifier: Apache-2.0

package api

import "testing"

func TestParseMAC(t *testing.T) {
	for _, text := range []string{"52:54:00:77:00:0a", "52-54-00-77-00-0a", "52:54:00:77:00:0A", "52-54-00-77-00-0A"} {
		if got, err := ParseMAC(text); err != nil || got != "52:54:00:77:00:0a" {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "n1", "52:54:00:77:00", "52:54:00:77:00:01:02", "52-54:00-77:00-01",
		"52:54:00:77:00:0g", " 52:54:00:77:00:01", "52:54:00:77:00:01\n"} {
		if got, err := ParseMAC(text); err == nil {
			t.Errorf("%q was accepted as %q", text, got)
		}
	}
}

func TestGroupAndZeroAddressesAreNoMachines(t *testing.T) {
	for _, text := range []string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01-00-5E-00-00-01", "33:33:00:00:00:01",
		"0B:00:00:00:00:01"} {
		if got, err := ParseMAC(text); err == nil {
			t.Errorf("%q was accepted as %q", text, got)
		}
		if !LooksLikeMAC(text) {
			t.Errorf("%q could be the name of a node", text)
		}
	}
}
