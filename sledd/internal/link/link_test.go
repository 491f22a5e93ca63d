// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/link"
)

// table is a fake one.
type table map[string][]string

func (t table) Find(address netip.Addr) ([]net.HardwareAddr, error) {
	var found []net.HardwareAddr
	for _, text := range t[address.String()] {
		one, err := net.ParseMAC(text)
		if err != nil {
			return nil, err //nolint:wrapcheck // of a test
		}
		found = append(found, one)
	}
	return found, nil
}

type broken struct{}

func (broken) Find(netip.Addr) ([]net.HardwareAddr, error) { return nil, errors.New("not permitted") }

const n1, n2 = "52:54:00:77:00:01", "52:54:00:77:00:02"

func TestLinkOfAnAddress(t *testing.T) {
	known := table{"10.77.0.101": {n1}, "10.77.0.102": {n2}, "fe80::1": {n2, n1}, "2001:db8::1": {n1}, "127.0.0.1": {n1}}
	for _, c := range []struct {
		address, mac string
		want         admission.Link
		other        string
	}{
		{"10.77.0.101", n1, admission.LinkSame, ""},
		{"10.77.0.102", n1, admission.LinkOther, n2},
		{"2001:db8::1", n1, admission.LinkSame, ""},
		{"2001:db8::1", n2, admission.LinkOther, n1},
		{"fe80::1", n1, admission.LinkSame, ""}, // on one of two links
		{"10.77.0.103", n1, admission.LinkUnknown, ""},
		{"192.0.2.1", n1, admission.LinkUnknown, ""},
		{"127.0.0.1", n2, admission.LinkUnknown, ""},
		{"", n1, admission.LinkUnknown, ""},
	} {
		address, _ := netip.ParseAddr(c.address) // the empty one is none
		got, other, err := link.Check(known, address, []string{c.mac})
		if got != c.want || other != c.other || err != nil {
			t.Errorf("%s claims %s: %s, %q, %v, want %s, %q", c.address, c.mac, got, other, err, c.want, c.other)
		}
	}
}

func TestWithoutATableNothingIsKnown(t *testing.T) {
	address := netip.MustParseAddr("10.77.0.101")
	if got, _, err := link.Check(nil, address, []string{n1}); got != admission.LinkUnknown || err != nil {
		t.Errorf("without a table: %s, %v", got, err)
	}
	if got, _, err := link.Check(broken{}, address, []string{n1}); got != admission.LinkUnknown || err == nil {
		t.Errorf("of one that fails: %s, %v", got, err)
	}
}
