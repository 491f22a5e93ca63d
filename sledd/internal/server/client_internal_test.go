// SPDX-License-Identifier: Apache-2.0

package server

import "testing"

func TestTwoForwardedAddressesAreNone(t *testing.T) {
	for _, headers := range [][]string{nil, {}, {""}, {"10.0.0.9", "10.0.0.10"}, {"10.0.0.9", ""}} {
		if got := forwardedAddress(headers); got.IsValid() {
			t.Errorf("%q: %s", headers, got)
		}
	}
}
