// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// jumps carries out a plan up to its last step. Returns the steps, and the token of the installed system.
func (m *machine) jumps(way string) (steps, installed string) {
	m.Helper()
	m.boot()
	steps = m.poll()
	installed = m.installs(start(2, "write"), end(2, "write", 0))
	m.does(api.Starting, start(4, "kexec"), report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: way})
	return steps, installed
}

// comes is the report of the installed system, with how it was started.
func (m *machine) comes(installed, boot, start string) {
	m.Helper()
	system := api.OS{BootID: nodetext.CleanIdentifier(boot), Start: start}
	if err := m.Operational(m.Context(), mac, installed, system, m.generation, 3); err != nil {
		m.Fatal(err)
	}
}

// kexecs wants the counts of the node.
func (m *machine) kexecs(attempts, confirmed, missed int64) {
	m.Helper()
	if got := m.load().Kexecs(); got.Attempts != attempts || got.Confirmed != confirmed || got.Missed != missed {
		m.Errorf("%+v, want %d attempts, %d confirmed, %d missed", got, attempts, confirmed, missed)
	}
}

// The report of the system counts; where it says nothing, what an operator or a playbook did to the node does.
func TestColdStartIsAMissedKexec(t *testing.T) {
	for name, c := range map[string]struct {
		note, word, start string
		missed            int64
	}{
		"confirmed":                  {"", "kexec", "kexec", 0},
		"the report":                 {"", "firmware", "fallback", 1},
		"a fallback":                 {"fallback", "", "fallback", 1},
		"somebody at the switch":     {"power", "", "fallback", 1},
		"a switch that does nothing": {"power", "kexec", "kexec", 0},
		"lost, and late":             {"lost", "kexec", "kexec", 0},
		"lost, and found":            {"lost", "firmware", "fallback", 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, &api.BindingSpec{Image: "d12"})
			_, installed := m.jumps("kexec")
			m.kexecs(1, 0, 0)
			if c.note != "" {
				operators := fleet.Fleet{DB: m.DB}
				if err := operators.Note(t.Context(), mac, api.NodeEvent{Kind: c.note, Detail: "cycle"}); err != nil {
					t.Fatal(err)
				}
			}
			m.comes(installed, "os-1", c.word)
			m.kexecs(1, 1-c.missed, c.missed)
			if status := m.status(); status.Start != c.start || status.Phase != api.Operational {
				t.Errorf("%+v", status)
			}
			m.comes(installed, "os-2", "firmware") // it could not forget its token, and was rebooted
			m.kexecs(1, 1-c.missed, c.missed)
		})
	}
}

func TestRebootIsNoKexec(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	_, installed := m.jumps("reboot")
	m.comes(installed, "os-1", "firmware")
	m.kexecs(0, 0, 0)
	if start := m.status().Start; start != "reboot" {
		t.Errorf("start %s", start)
	}
}

func TestNodeThatMissedIsRebootedUntilAKexecIsConfirmed(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.jumps("kexec") // and its system never reports
	for i, c := range []struct{ boot, last, start string }{{"", "reboot", "firmware"}, {"kexec", "kexec", "kexec"},
		{"auto", "kexec", "kexec"}} {
		m.bind(int64(i+2), api.BindingSpec{Image: "d12", Boot: c.boot})
		steps, installed := m.jumps(c.last)
		if steps != "wipe write configure "+c.last || m.status().StartNote.IsZero() != (c.last == "kexec") {
			t.Errorf("boot %q: the plan is %s, %+v", c.boot, steps, m.status())
		}
		m.comes(installed, c.boot+"os", c.start)
	}
	m.kexecs(3, 2, 1)
}

func TestAnotherModelStartsAnew(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.jumps("kexec")
	m.bind(2, api.BindingSpec{Image: "d12"})
	m.boot()
	facts := api.Facts{BootID: nodetext.CleanIdentifier(m.booted),
		DMI:   nodetexttest.Facts(map[string]string{"vendor": "ACME", "product": "X2"}),
		Disks: []map[string]api.Identifier{nodetexttest.Facts(drive("vda", "1"))}}
	if _, err := m.Facts(t.Context(), mac, m.token, report.Hardware{Facts: facts, Uptime: 2.5}); err != nil {
		t.Fatal(err)
	}
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Errorf("the plan is %q", got)
	}
	m.does(api.Starting, start(4, "kexec"), report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"})
	m.kexecs(1, 0, 0)
	if kexecs := m.load().Kexecs(); kexecs.Product.String() != "X2" {
		t.Errorf("%+v", kexecs)
	}
}
