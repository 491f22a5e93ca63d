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
		holder    string
	}{
		{"10.77.0.101", "52:54:00:77:00:01", admission.LinkSame, ""},
		{"10.77.0.101", "52:54:00:77:00:02", admission.LinkOther, "52:54:00:77:00:01"},
		{"10.77.0.1", "52:54:00:77:00:01", admission.LinkOther, "52:54:00:77:00:aa"},
		{"10.77.0.102", "52:54:00:77:00:02", admission.LinkUnknown, ""},
		{"10.77.0.10", "52:54:00:77:00:01", admission.LinkUnknown, ""},
		{"192.0.2.1", "52:54:00:77:00:01", admission.LinkUnknown, ""},
	} {
		if got, holder := linkOf(neighbours, c.peer, c.mac); got != c.want || holder != c.holder {
			t.Errorf("%s claims %s: %s of %q, want %s of %q", c.peer, c.mac, got, holder, c.want, c.holder)
		}
	}
	if got, holder := linkOf("", "10.77.0.101", "52:54:00:77:00:01"); got != admission.LinkUnknown || holder != "" {
		t.Errorf("without a table: %s of %q", got, holder)
	}
}
