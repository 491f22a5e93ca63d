// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// all is all that is stored.
func (m *machine) all() []store.KV {
	m.Helper()
	snapshot, err := m.memory.Read(m.Context(), store.Prefix("/"))
	if err != nil {
		m.Fatal(err)
	}
	return snapshot.Results[0]
}

// Anybody can request a script, also many: each costs one read of the store.
func TestABootScriptIsOneRead(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	calls := 0
	m.memory.Before(func(string) error { calls++; return nil })
	if _, err := m.Script(t.Context(), mac); err != nil || calls != 1 {
		t.Errorf("%d calls of the store, %v", calls, err)
	}
}

// full is a store that takes no writes.
type full struct{ halfFull }

func (full) Full() bool { return true }

func TestMachinesBootTheirDisksWhileNothingCanBeStored(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	for capacity, local := range map[intake.Capacity]bool{halfFull{}: false, full{}: true} {
		m.Capacity = capacity
		if script, err := m.Script(t.Context(), mac); err != nil || script.Local != local {
			t.Errorf("%T: boots the disk: %v, %v", capacity, script.Local, err)
		}
	}
}

// TestABootScriptIsNoSecretAndChangesNothing: anybody can request it, for any node and at any time.
func TestABootScriptIsNoSecretAndChangesNothing(t *testing.T) {
	for name, prepare := range map[string]func(m *machine){
		"bound":       func(*machine) {},
		"booting":     func(m *machine) { m.boot() },
		"writing":     func(m *machine) { m.boot(); m.poll(); m.does(api.Writing, start(2, "write")) },
		"operational": func(m *machine) { m.is(api.Operational) },
		"starting by kexec": func(m *machine) {
			m.boot()
			m.poll()
			m.does(api.Starting, report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"})
		},
		"under rescue": func(m *machine) {
			m.is(api.Operational)
			m.change(func(tx *nodetx.Tx) { tx.SetDetour(detour.Detour{Rescue: &api.Rescue{}}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, &api.BindingSpec{Image: "d12"})
			prepare(m)
			before := m.all()
			for _, address := range []string{mac, stranger(1)} {
				first, err := m.Script(t.Context(), address)
				if err != nil {
					t.Fatal(err)
				}
				again, err := m.Script(t.Context(), address)
				if err != nil || again != first {
					t.Errorf("%s: the second request differs: %+v, %+v, %v", address, first, again, err)
				}
				if strings.Contains(first.Text, "sledb_") || strings.Contains(first.Text, "token") {
					t.Errorf("%s: the script holds a token: %s", address, first.Text)
				}
			}
			if after := m.all(); !reflect.DeepEqual(before, after) {
				t.Errorf("stored before: %v\nafter: %v", before, after)
			}
			if m.token != "" {
				if err := m.Authenticate(t.Context(), mac, m.token); err != nil && name != "starting by kexec" {
					t.Errorf("the token of the node ended: %v", err)
				}
			}
		})
	}
}

// is puts the node into a phase in which its binding is satisfied.
func (m *machine) is(phase api.Phase) {
	m.Helper()
	m.change(func(tx *nodetx.Tx) { tx.Status().Phase, tx.Status().Generation = phase, 1 })
}

func TestAClaimIsNoSignOfLife(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Proven)
	_, claim := m.hello("192.0.2.66")
	m.pollBy(claim)
	if status := m.status(); status != (api.Status{}) {
		t.Errorf("a claim that is not admitted changed the status to %+v", status)
	}
}

func TestABootTokenWithoutAClaimIsRefused(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.change(func(tx *nodetx.Tx) {
		for i := range tx.Tokens() {
			tx.Tokens()[i].Claim = ""
		}
	})
	_, err := m.Poll(t.Context(), mac, m.token, 0, 0)
	m.refused("a poll with the token", err, refusal.Unauthorized)
	_, _, err = m.Seed(t.Context(), mac, m.token)
	m.refused("its seed", err, refusal.Unauthorized)
}

func TestAWarmStartHasATicket(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Proven)
	_, err := m.Warm(t.Context(), "n1", "http://front")
	m.refused("by a name that is not stored", err, refusal.NotFound)
	_, err = m.Warm(t.Context(), stranger(1), "http://front")
	m.refused("a machine that is not declared", err, refusal.NotFound)
	replaced, err := m.Warm(t.Context(), mac, "http://front")
	if err != nil {
		t.Fatal(err)
	}
	before := m.status()
	with, err := m.Warm(t.Context(), mac, "http://front")
	if err != nil || with.Kernel != "http://front/sled/generic/vmlinuz" || strings.Contains(with.Arguments, "token") ||
		!strings.HasPrefix(with.Ticket, "sledt_") || with.Expires.IsZero() || m.status() != before {
		t.Fatalf("%+v, %v, %+v", with, err, m.status())
	}
	m.refused("the ticket before", second(m.helloFrom("192.0.2.1", replaced.Ticket)), refusal.Unauthorized)
	_, claim, err := m.helloFrom("192.0.2.1", with.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	if m.token = m.pollBy(claim); m.token == "" || m.status().Phase != api.Booting {
		t.Errorf("admitted: %t, phase %s", m.token != "", m.status().Phase)
	}
	m.is(api.Operational)
	_, err = m.Warm(t.Context(), mac, "http://front")
	m.refused("a node that would boot its disk", err, refusal.Conflict)
	m.bind(2, api.BindingSpec{Image: "d12"})
	_, err = m.at(admission.Attested).Warm(t.Context(), mac, "http://front")
	m.refused("a node that has to be attested", err, refusal.Conflict)
}
