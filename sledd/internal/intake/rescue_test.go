// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"net/netip"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// A machine cannot send its operator's SSH to another one: the address is that of its connection.
func TestTheAddressOfARescueIsThatOfItsConnection(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "": "10.0.0.66", "127.0.0.1": "10.0.0.66", "2001:db8::7": "2001:db8::7",
	} {
		m := newMachine(t, nil)
		m.change(func(tx *nodetx.Tx) {
			keys := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice}}
			tx.SetDetour(detour.Detour{Rescue: &api.Rescue{RescueSpec: keys}})
		})
		m.boot()
		if got := m.poll(); got != "rescue" {
			t.Fatalf("the plan is %q", got)
		}
		address, _ := netip.ParseAddr(from)
		sent := report.Report{Run: m.run, Boot: nodetext.CleanIdentifier("b1"), Lines: []report.Line{
			{Kind: report.Begin, Step: 1, Of: 1, Verb: "rescue"},
			{Kind: report.End, Step: 1, Verb: "rescue", Entry: report.Entry{
				Address: nodetexttest.Address("10.0.0.66"), HostKey: nodetexttest.Key(nodetexttest.HostKey)}}}}
		if _, err := m.Report(origin.With(t.Context(), origin.Origin{Address: address}), mac, m.token, sent); err != nil {
			t.Fatal(err)
		}
		if got := m.load().Detour().Rescue.Address.String(); got != want {
			t.Errorf("reported from %q: ssh root@%s, want %s", from, got, want)
		}
	}
}
