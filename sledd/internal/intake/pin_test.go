// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

func drive(name, serial string) map[string]string {
	return map[string]string{"name": name, "serial": serial, "wwn": "eui." + serial, "bytes": "1000", "rotational": "0",
		"transport": "nvme"}
}

// sends sends facts of the newest boot, as the Sled system does.
func (m *machine) sends(disks ...map[string]string) {
	m.Helper()
	facts := api.Facts{BootID: nodetext.CleanIdentifier(m.booted)}
	for _, one := range disks {
		facts.Disks = append(facts.Disks, nodetexttest.Facts(one))
	}
	if _, err := m.Facts(m.Context(), mac, m.token, report.Hardware{Facts: facts, Uptime: 2.5}); err != nil {
		m.Fatal(err)
	}
}

// refusedPlan polls, and wants a reason instead of a plan.
func (m *machine) refusedPlan(reason string) {
	m.Helper()
	if got := m.plan(); got != "" {
		m.Errorf("got the plan %s", got)
	}
	status := m.status()
	if status.Phase != api.Failed || status.Code != api.CodeDisk || status.Generation != m.load().Generation() ||
		!strings.Contains(status.Reason.String(), reason) {
		m.Errorf("%s, code %d: %s, want %q", status.Phase, status.Code, status.Reason, reason)
	}
}

// waits polls, and gets neither a plan nor a reason: its facts are still on the way.
func (m *machine) waits() {
	m.Helper()
	if got, status := m.plan(), m.status(); got != "" || status.Phase == api.Failed || m.count("disk") != 0 {
		m.Errorf("plan %q, phase %s, %d events", got, status.Phase, m.count("disk"))
	}
}

func (m *machine) wants(selector string, keep ...string) {
	m.change(func(tx *nodetx.Tx) {
		tx.Declare(api.NodeSpec{MAC: mac, Name: "n1", Disk: selector, KeepDisks: keep})
	})
}

func TestAPlanNamesTheDiskThatThisBootHasReported(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.wants("only")
	m.boot()
	m.sends(drive("nvme0n1", "OS"))
	got := m.plan()
	for _, step := range []string{"wipe disks=wwn:eui.OS ", "write disk=wwn:eui.OS ", "configure disk=wwn:eui.OS ",
		"kexec disk=wwn:eui.OS "} {
		if !strings.Contains(got, step) {
			t.Errorf("no %q in\n%s", step, got)
		}
	}
	if newest := m.load().Events()[0]; newest.Detail.String() != "wipe write configure kexec on wwn:eui.OS" {
		t.Errorf("the event of the plan: %s", newest.Detail)
	}
}

func TestWithoutFactsOfThisBootNoDiskIsNamed(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.waits()
	m.waits()
	m.sends(drive("nvme0n1", "1"))
	if got := m.plan(); !strings.Contains(got, "write disk=wwn:eui.1 ") || m.status().Phase != api.Booting ||
		m.status().Code != 0 {
		t.Errorf("once it has reported them: %s, %+v", got, m.status())
	}

	m.enter("192.0.2.2") // facts of another boot do not count
	m.waits()

	m.bind(2, api.BindingSpec{}) // nor is anything wiped
	m.waits()
	m.sends()
	if got := m.plan(); !strings.Contains(got, "wipe disks=all ") {
		t.Errorf("a tear-down: %s", got)
	}
}

func TestAnIdleNodeNeedsNoFacts(t *testing.T) {
	m := newMachine(t, nil)
	m.boot()
	if got := m.plan(); got != "plan 1\ngeneration 0 run 1\nidle\n" {
		t.Errorf("got %s", got)
	}
}

func TestASelectorThatDoesNotResolveIsAFailureUntilItDoes(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.wants("only")
	m.boot()
	m.sends(drive("nvme0n1", "OS"), drive("nvme1n1", "DATA"))
	m.refusedPlan("disk only: 2 disks match")
	if log := string(*m.load().Log()); !strings.Contains(log, "OS") || !strings.Contains(log, "DATA") {
		t.Errorf("the log lists no disks: %s", log)
	}
	m.wants("serial:NOSUCH")
	m.refusedPlan("no disk matches")
	m.wants("serial:OS", "serial:data")
	m.refusedPlan("keep serial:data: no disk matches")
	m.wants("serial:OS", "serial:OS")
	m.refusedPlan("on the keep list")
	m.wants("serial:OS", "serial:DATA")
	if got := m.plan(); !strings.Contains(got, "write disk=wwn:eui.OS keep=serial:DATA ") {
		t.Errorf("got %s", got)
	}
}

func TestADescriptionTakesNoOtherDiskWhileOneIsLate(t *testing.T) {
	m := newMachine(t, nil)
	m.wants("size:1-")
	m.boot()
	m.sends(drive("nvme0n1", "OS"))
	m.bind(1, api.BindingSpec{Image: "d12"})
	m.enter("192.0.2.2")
	m.sends(drive("nvme0n1", "DATA")) // another one was put in, and the first comes late
	m.refusedPlan("serial:OS (1.0 kB) matches too, and is missing in this boot")
	m.sends(drive("nvme0n1", "DATA"), drive("nvme1n1", "OS")) // it is there now, in the same boot
	m.refusedPlan("2 disks match")
	if m.count("facts") != 2 || m.load().Facts().Missing != nil {
		t.Errorf("%d events, missing %v", m.count("facts"), m.load().Facts().Missing)
	}
	m.wants("serial:OS")
	if got := m.plan(); !strings.Contains(got, "write disk=wwn:eui.OS ") {
		t.Errorf("got %s", got)
	}
}

// An older Sled system reports no transports. It gets plans for disks that are named.
func TestAnOlderSledSystem(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.wants("only")
	m.boot()
	old := map[string]string{"name": "sda", "serial": "OS", "bytes": "1000", "removable": "0"}
	m.sends(old)
	m.refusedPlan("no disk matches")
	if log := string(*m.load().Log()); !strings.Contains(log, "attached in an unknown way") {
		t.Errorf("the log is %s", log)
	}
	m.wants("serial:OS")
	if got := m.plan(); !strings.Contains(got, "write disk=serial:OS ") {
		t.Errorf("got %s", got)
	}
}
