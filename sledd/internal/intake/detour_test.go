// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// interrupted is an operational node that has got the plan of a rescue.
func interrupted(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.change(func(tx *nodetx.Tx) {
		tx.Status().Phase, tx.Status().Generation = api.Operational, 1
		tx.Status().Run = api.Run{Number: 5, Generation: 1}
		tx.SetDetour(underRescue("ssh-ed25519 AAAA"))
	})
	m.boot()
	if got := m.poll(); got != "rescue" {
		t.Fatalf("the plan is %q", got)
	}
	return m
}

func underRescue(key string) detour.Detour {
	return detour.Detour{Rescue: &api.Rescue{RescueSpec: api.RescueSpec{AuthorizedKeys: []string{key}}}}
}

func TestReportsOfADetour(t *testing.T) {
	begin := report.Line{Kind: report.Begin, Step: 1, Of: 1, Verb: "rescue"}
	waits := report.Line{Kind: report.Begin, Step: 1, Of: 1, Verb: "idle"}
	entered := report.Line{Kind: report.End, Step: 1, Verb: "rescue", Entry: report.Entry{
		Address: nodetexttest.Address("10.0.0.1"), HostKey: nodetexttest.Key(nodetexttest.HostKey)}}
	failed := end(1, "rescue", 1)
	over, replaced := detour.Detour{}, underRescue("ssh-ed25519 BBBB")
	for _, c := range []struct {
		name    string
		next    *detour.Detour // that the node has when it reports; nil: the one of its plan
		line    report.Line
		phase   api.Phase
		ended   bool // the detour knows the end of its step
		address string
		reason  string
	}{
		{name: "the start", line: begin, phase: api.UnderRescue},
		{name: "a step without a phase", line: waits, phase: api.Operational},
		{name: "the end", line: entered, phase: api.Operational, ended: true, address: "10.0.0.1"},
		{name: "a failure", line: failed, phase: api.Operational, ended: true, reason: "rescue failed"},
		{name: "the start, of one that is over", next: &over, line: begin, phase: api.Operational},
		{name: "the end, of one that is over", next: &over, line: entered, phase: api.Operational},
		{name: "the start, of one that was replaced", next: &replaced, line: begin, phase: api.Operational},
		{name: "the end, of one that was replaced", next: &replaced, line: entered, phase: api.Operational},
	} {
		m := interrupted(t)
		if c.next != nil {
			m.change(func(tx *nodetx.Tx) { tx.SetDetour(*c.next) })
		}
		m.does(c.phase, c.line)
		tx, rescue := m.load(), &api.Rescue{}
		if has := tx.Detour().Requested(); has != (c.next != &over) {
			t.Errorf("%s: the node has a detour: %t", c.name, has)
		} else if has {
			rescue = tx.Detour().Rescue
		}
		if rescue.Entered.IsZero() == c.ended || rescue.Address.String() != c.address || rescue.Reason.String() != c.reason {
			t.Errorf("%s: %+v", c.name, rescue)
		}
		if told := m.count("rescue") == 1; told != c.ended || m.count(string(c.line.Kind)) != 1 {
			t.Errorf("%s: an event of the rescue: %t, %d of the step", c.name, told, m.count(string(c.line.Kind)))
		}
		if before := tx.Status().Before; (before == api.Operational) != (c.phase == api.UnderRescue) || !tx.Satisfied() {
			t.Errorf("%s: the phase before is %q", c.name, before)
		}
	}
}
