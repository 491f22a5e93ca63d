// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// entered is the incumbent of a bound node.
func entered(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	m.enter("192.0.2.1")
	m.poll()
	return m
}

func (m *machine) ticket() string {
	m.Helper()
	ticket, _, err := m.Ticket(m.Context(), mac, m.token)
	if err != nil {
		m.Fatal(err)
	}
	return ticket
}

func (m *machine) leaves() {
	m.Helper()
	m.decide(admission.Leave{ID: m.load().Admission().Incumbent.ID})
	m.after(20 * time.Second)
}

// admits reports whether a claim from another boot is admitted.
func (m *machine) admits(address, ticket string) bool {
	m.Helper()
	_, claim, err := m.helloFrom(address, ticket)
	if err != nil {
		m.Fatal(err)
	}
	m.pollBy(claim)
	incumbent := m.load().Admission().Incumbent
	return incumbent != nil && incumbent.Hello.Boot == m.booted
}

func TestAnIncumbentReturnsByItsTicket(t *testing.T) {
	m := entered(t)
	replaced, ticket := m.ticket(), m.ticket()
	m.leaves()
	m.refused("the ticket before", second(m.helloFrom("192.0.2.1", replaced)), refusal.Unauthorized)
	if !m.admits("192.0.2.1", ticket) {
		t.Fatalf("%+v", m.load().Admission())
	}
	if now := m.load().Admission().Incumbent; now.Level != admission.Expected || now.By != "return" {
		t.Errorf("it is back at %s by %s", now.Level, now.By)
	}
	m.after(20 * time.Second)
	m.refused("a second boot", second(m.helloFrom("192.0.2.2", ticket)), refusal.Unauthorized)
}

// TestWhoseTicketDoesNotCount shows that a ticket is not worth more than the incumbent, and no longer.
func TestWhoseTicketDoesNotCount(t *testing.T) {
	m := entered(t) // it has not left
	if m.admits("192.0.2.2", m.ticket()) {
		t.Error("beside its incumbent")
	}
	m = entered(t)
	ticket := m.ticket()
	m.leaves()
	m.at(admission.Proven)
	if m.admits("192.0.2.1", ticket) {
		t.Error("at a level that the incumbent did not have")
	}
	for what, act := range map[string]admission.Event{"a reset": powerCycle, "a revocation": admission.Revoke{},
		"a hand-over": admission.HandOver{}} {
		m = entered(t)
		ticket = m.ticket()
		m.decide(act)
		m.refused(what, second(m.helloFrom("192.0.2.1", ticket)), refusal.Unauthorized)
	}
	m = entered(t) // its installed system has the machine
	ticket = m.ticket()
	if err := m.report(report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"}); err != nil {
		t.Fatal(err)
	}
	if m.after(20*time.Second).admits("192.0.2.1", ticket) {
		t.Error("while the disk is started")
	}
	m = entered(t) // another claim was admitted in its place
	ticket = m.ticket()
	code, claim := m.hello("192.0.2.66")
	m.decide(admission.Admit{Code: code})
	m.pollBy(claim)
	m.refused("that was displaced", second(m.helloFrom("192.0.2.1", ticket)), refusal.Unauthorized)
	m = entered(t)
	ticket = m.ticket()
	m.leaves()
	m.after(16 * time.Minute)
	m.refused("that is too old", second(m.helloFrom("192.0.2.1", ticket)), refusal.Unauthorized)
}

func TestWhoGetsNoTicket(t *testing.T) {
	m := entered(t)
	asks := func(bearer string) error {
		_, _, err := m.Ticket(m.Context(), mac, bearer)
		return err
	}
	m.refused("nobody", asks(""), refusal.Unauthorized)
	m.refused("a ticket", asks(m.ticket()), refusal.Forbidden)
	_, claim := m.hello("192.0.2.66")
	m.refused("a claim", asks(claim), refusal.Forbidden)
	m.pollBy(claim)
	m.does(api.Writing, start(2, "write"))
	m.refused("a contested incumbent", asks(m.token), refusal.Forbidden)
	m = entered(t)
	m.at(admission.Attested)
	m.refused("below the level", asks(m.token), refusal.Forbidden)
	m = newMachine(t, nil).at(admission.Attested)
	code, claim := m.hello("192.0.2.1")
	m.decide(admission.Prove{Code: code, Evidence: admission.Attestation})
	m.token = m.pollBy(claim)
	m.refused("an attested one", asks(m.token), refusal.Conflict)
}

func TestTheConsoleOfAJobIsNoEvidence(t *testing.T) {
	m := newMachine(t, nil).at(admission.Proven)
	code, claim := m.hello("192.0.2.66")
	job := detour.Job{Job: api.Job{ID: "1kq7d2g3x9qa", State: api.JobRunning}}
	m.change(func(tx *nodetx.Tx) { tx.SetDetour(detour.Detour{Job: &job}) })
	m.after(10 * time.Second).decide(admission.Show{Code: code, At: m.DB.Now()})
	m.pollBy(claim)
	if now := m.load().Admission(); now.Incumbent != nil || len(now.Claims[0].Evidence) > 0 {
		t.Errorf("%+v", now)
	}
}
