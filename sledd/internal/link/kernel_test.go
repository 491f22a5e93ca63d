// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/link"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// rack is two network namespaces with a cable between them: the boot server's, which the thread of the test is in, and
// a machine's.
type rack struct {
	*testing.T
	server, machine netns.NsHandle
}

// newRack makes one. Its thread ends with the test.
func newRack(t *testing.T) *rack {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, for network namespaces")
	}
	runtime.LockOSThread()
	r := &rack{T: t}
	r.machine = r.namespace()
	r.server = r.namespace()
	r.must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "server"}, PeerName: "machine",
		PeerNamespace: netlink.NsFd(r.machine)}))
	r.configure("server", "", "192.0.2.1/24", "2001:db8::1/64", "fe80::1/64")
	r.in(r.machine, func() {
		r.configure("machine", n1, "192.0.2.2/24", "2001:db8::2/64", "fe80::2/64", "198.51.100.2/32")
	})
	_, behind, _ := net.ParseCIDR("198.51.100.0/24")
	r.must(netlink.RouteAdd(&netlink.Route{Dst: behind, Gw: net.ParseIP("192.0.2.2")}))
	return r
}

func (r *rack) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// namespace makes one and enters it.
func (r *rack) namespace() netns.NsHandle {
	r.Helper()
	made, err := netns.New()
	r.must(err)
	r.Cleanup(func() { _ = made.Close() })
	return made
}

// in does something in a namespace.
func (r *rack) in(there netns.NsHandle, do func()) {
	r.Helper()
	r.must(netns.Set(there))
	do()
	r.must(netns.Set(r.server))
}

// configure gives an interface its MAC and addresses, and switches it on.
func (r *rack) configure(name, mac string, addresses ...string) {
	r.Helper()
	one, err := netlink.LinkByName(name)
	r.must(err)
	if mac != "" {
		address, err := net.ParseMAC(mac)
		r.must(err)
		r.must(netlink.LinkSetHardwareAddr(one, address))
	}
	r.must(netlink.LinkSetUp(one))
	for _, text := range addresses {
		address, err := netlink.ParseAddr(text)
		r.must(err)
		address.Flags = unix.IFA_F_NODAD // usable at once
		r.must(netlink.AddrAdd(one, address))
	}
}

// visit connects from an address of the machine to one of the server, and returns the peer that the server sees.
func (r *rack) visit(from, to string) netip.Addr {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience.Limit)
	defer cancel()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(to, "0"))
	r.must(err)
	defer listener.Close()
	at, err := netip.ParseAddrPort(listener.Addr().String())
	r.must(err)
	if zone := at.Addr().Zone(); zone != "" {
		at = netip.AddrPortFrom(at.Addr().WithZone("machine"), at.Port())
	}
	var client net.Conn
	r.in(r.machine, func() {
		dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))}
		client, err = dialer.DialContext(ctx, "tcp", at.String())
	})
	r.must(err)
	defer client.Close()
	server, err := listener.Accept()
	r.must(err)
	defer server.Close()
	peer, err := netip.ParseAddrPort(server.RemoteAddr().String())
	r.must(err)
	if peer.Addr().Zone() != "" { // the net package keeps the names of interfaces of the other namespace for a while
		return peer.Addr().WithZone("server")
	}
	return peer.Addr()
}

func (r *rack) check(address netip.Addr, claimed string, want admission.Link, other string) {
	r.Helper()
	got, mac, err := link.Check(link.Kernel{}, address, []string{claimed})
	if got != want || mac != other || err != nil {
		r.Errorf("%s claims %s: %s, %q, %v, want %s, %q", address, claimed, got, mac, err, want, other)
	}
}

func TestKernelKnowsTheMACOfAMachine(t *testing.T) {
	r := newRack(t)
	for from, to := range map[string]string{"192.0.2.2": "192.0.2.1", "2001:db8::2": "2001:db8::1",
		"fe80::2%machine": "fe80::1%server"} {
		peer := r.visit(from, to)
		r.check(peer, n1, admission.LinkSame, "")
		r.check(peer, n2, admission.LinkOther, n1)
		r.check(peer.WithZone(""), n2, admission.LinkOther, n1) // as a web server in front names it
	}
}

func TestKernelKnowsNothingOfMachinesElsewhere(t *testing.T) {
	r := newRack(t)
	r.check(r.visit("198.51.100.2", "192.0.2.1"), n1, admission.LinkUnknown, "") // behind a router
	r.check(netip.MustParseAddr("192.0.2.77"), n1, admission.LinkUnknown, "")    // never seen
	r.check(netip.MustParseAddr("2001:db8::77"), n1, admission.LinkUnknown, "")  // never seen
	r.check(netip.MustParseAddr("192.0.2.1"), n1, admission.LinkUnknown, "")     // this machine
	if _, _, err := link.Check(link.Kernel{}, netip.MustParseAddr("203.0.113.1"), []string{n1}); err == nil {
		t.Error("an address without a route has a link")
	}
	if _, _, err := link.Check(link.Kernel{}, netip.MustParseAddr("fe80::2%eth9"), []string{n1}); err == nil {
		t.Error("an interface that does not exist has a link")
	}
}
