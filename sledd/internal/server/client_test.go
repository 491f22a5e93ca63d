// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// from is the address that sledd knows a client by who declares a node.
func (s *sledd) from(behind bool, headers ...string) string {
	s.Helper()
	const path, body = "/v1/nodes/n1", `{"mac":"52:54:00:77:00:01","name":"n1"}`
	ask := s.Ask
	if behind {
		ask = s.AskBehind
	}
	if a := ask("PUT", path, adminToken, body, headers...); a.Status != 200 {
		s.Fatalf("%d: %s", a.Status, a.Body)
	}
	items := as[api.AuditList](s.T, s.admin(200, "GET", "/v1/audit?limit=1", nil)).Items
	if len(items) != 1 {
		s.Fatalf("%+v", items)
	}
	return items[0].From
}

func TestClientIsWhoTheWebServerInFrontNames(t *testing.T) {
	s := fresh(t)
	for i, c := range []struct {
		behind bool
		header string
		want   string
	}{
		{true, "10.0.0.9", "10.0.0.9"},
		{true, "2001:db8::9", "2001:db8::9"},
		{true, "::ffff:10.0.0.9", "10.0.0.9"},
		// None of these was written by it.
		{true, "", "unknown"},
		{true, "10.0.0.9, 10.0.0.10", "unknown"},
		{true, "10.0.0.9:80", "unknown"},
		{true, "fe80::1%eth0", "unknown"},
		{true, "boot.example", "unknown"},
		// On TCP everybody may have written it.
		{false, "10.0.0.9", "127.0.0.1"},
		{false, "127.0.0.2", "127.0.0.1"},
		{false, "no address", "127.0.0.1"},
		{false, "", "127.0.0.1"},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{"X-Forwarded-For", c.header}
		}
		// What else a client may forge, to be believed in place of that header.
		headers = append(headers, "Forwarded", "for=10.0.0.66", "X-Real-IP", "10.0.0.66", "X-Forwarded-Host", "10.0.0.66")
		if got := s.from(c.behind, headers...); got != c.want {
			t.Errorf("%d: %s", i, fmt.Sprintf("over the socket: %t, header %q: %s, want %s", c.behind, c.header, got, c.want))
		}
	}
}

// A machine that claims to be a node does not choose the address that its claim is shown with.
func TestClaimHasTheAddressOfTheSocket(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	const path, hello = "/node/v1/52-54-00-77-00-01/hello", "hello 1\nboot id=b1 nic=52:54:00:77:00:01\n"
	s.Ask("POST", path, "", hello, "X-Forwarded-For", "10.0.0.66")
	s.AskBehind("POST", path, "", hello, "X-Forwarded-For", "10.0.0.9")
	claims := as[api.Admission](t, s.admin(200, "GET", "/v1/nodes/n1/admission", nil)).Claims
	if len(claims) != 2 || claims[0].Address != "" || claims[1].Address != "10.0.0.9" {
		t.Errorf("%+v", claims)
	}
}

// neighbours is a table in which each address has one MAC.
type neighbours map[string]string

func (n neighbours) Find(address netip.Addr) ([]net.HardwareAddr, error) {
	one, err := net.ParseMAC(n[address.String()])
	if err != nil {
		return nil, nil //nolint:nilerr // it is not in the table
	}
	return []net.HardwareAddr{one}, nil
}

func TestLinkOfAClaim(t *testing.T) {
	s := runWith(t, sleddtest.Options{Links: neighbours{"10.0.0.1": address(1), "10.0.0.2": address(2),
		"10.0.0.4": address(4)}})
	twin(s) // 10.0.0.4 is the address of its other interface
	for _, from := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.4", "192.0.2.9"} {
		s.AskBehind("POST", "/node/v1/52-54-00-77-00-01/hello", "", "hello 1\nboot id=b1 nic=52:54:00:77:00:01\n",
			"X-Forwarded-For", from)
	}
	var links []string
	for _, claim := range as[api.Admission](t, s.admin(200, "GET", "/v1/nodes/n1/admission", nil)).Claims {
		links = append(links, claim.Address+" "+claim.Link)
	}
	if got := strings.Join(links, ", "); got != "10.0.0.1 same, 10.0.0.2 other, 10.0.0.4 same, 192.0.2.9 unknown" {
		t.Error(got)
	}
	events, err := s.Client().Events(t.Context(), "n1", 0)
	if err != nil {
		t.Fatal(err)
	}
	var alarms []string
	for _, event := range events {
		if event.Kind == "link" {
			alarms = append(alarms, event.Detail.String())
		}
	}
	if len(alarms) != 1 || !strings.HasSuffix(alarms[0], " from 10.0.0.2: its address belongs to MAC "+address(2)) {
		t.Errorf("%q", alarms)
	}
}

// TestAProcessOnTheBootServerIsNoNode: its claims have an address, and a budget.
func TestAProcessOnTheBootServerIsNoNode(t *testing.T) {
	s := runWith(t, sleddtest.Options{Routed: true})
	s.Declare(1)
	hello := func(mac string) int {
		text := "hello 1\nboot id=b1 nic=" + strings.ReplaceAll(mac, "-", ":") + "\n"
		return s.AskBehind("POST", "/node/v1/"+mac+"/hello", "", text, "X-Forwarded-For", "127.0.0.1").Status
	}
	if got := hello("52-54-00-77-00-01"); got != 200 {
		t.Fatal(got)
	}
	if got := hello("52-54-00-77-00-01"); got != 429 {
		t.Errorf("another claim at once: %d", got)
	}
	if got := hello("52-54-00-77-00-09"); got != 403 {
		t.Errorf("a machine that is not declared: %d", got)
	}
	claims := as[api.Admission](t, s.admin(200, "GET", "/v1/nodes/n1/admission", nil)).Claims
	if len(claims) != 1 || claims[0].Address != "127.0.0.1" || claims[0].Link != "other" {
		t.Errorf("%+v", claims)
	}
}
