// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

const neighbours = `IP address       HW type     Flags       HW address            Mask     Device
10.77.0.101      0x1         0x2         52:54:00:77:00:01     *        eth0
10.77.0.102      0x1         0x0         00:00:00:00:00:00     *        eth0
10.77.0.1        0x1         0x2         52:54:00:77:00:aa     *        eth0
`

func TestLinkOfAnAddress(t *testing.T) {
	for _, c := range []struct {
		peer, mac string
		want      admission.Link
	}{
		{"10.77.0.101", "52:54:00:77:00:01", admission.LinkSame},
		{"10.77.0.101", "52:54:00:77:00:02", admission.LinkOther},
		{"10.77.0.1", "52:54:00:77:00:01", admission.LinkOther},
		{"10.77.0.102", "52:54:00:77:00:02", admission.LinkUnknown},
		{"10.77.0.10", "52:54:00:77:00:01", admission.LinkUnknown},
		{"192.0.2.1", "52:54:00:77:00:01", admission.LinkUnknown},
	} {
		if got := linkOf(neighbours, c.peer, c.mac); got != c.want {
			t.Errorf("%s claims %s: %s, want %s", c.peer, c.mac, got, c.want)
		}
	}
	if got := linkOf("", "10.77.0.101", "52:54:00:77:00:01"); got != admission.LinkUnknown {
		t.Errorf("without a table: %s", got)
	}
}
