// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// withKey is the end of a configure that made a host key.
func withKey() report.Line {
	line := end(3, "configure", 0)
	line.HostKey = nodetexttest.Key(nodetexttest.HostKey)
	return line
}

// installs carries out the plan until the seed is fetched, without those lines of the report that it is not to send.
// Returns the token of the installed system.
func (m *machine) installs(lines ...report.Line) string {
	m.Helper()
	if err := m.report(lines...); err != nil {
		m.Fatal(err)
	}
	seed, _, err := m.Seed(m.Context(), mac, m.token)
	if err != nil {
		m.Fatal(err)
	}
	return operationalToken(m.T, seed)
}

// confirms reports from an address that the installed system runs.
func (m *machine) confirms(installed, address string) error {
	ctx := origin.With(m.Context(), origin.Origin{Address: netip.MustParseAddr(address)})
	return m.Operational(ctx, mac, installed, api.OS{BootID: nodetext.CleanIdentifier("os")}, m.generation, 3)
}

// hostKey is the one that the status shows; empty without a system.
func (m *machine) hostKey() string {
	m.Helper()
	if system := m.status().OS; system != nil {
		return system.HostKey.String()
	}
	return ""
}

func TestAHostKeyIsThatOfTheSystemOnTheDisk(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	installed := m.installs(start(1, "wipe"), end(1, "wipe", 0), start(2, "write"), end(2, "write", 0),
		start(3, "configure"))
	m.does(api.Configuring, withKey())
	if system := m.status().OS; m.hostKey() != nodetexttest.HostKey || !system.Confirmed.IsZero() ||
		!system.Address.IsZero() {
		t.Fatalf("before it starts: %+v", system)
	}
	m.does(api.Starting, start(4, "kexec"), report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"})
	if err := m.confirms(installed, "192.0.2.7"); err != nil {
		t.Fatal(err)
	}
	if system := m.status().OS; m.hostKey() != nodetexttest.HostKey || system.Address.String() != "192.0.2.7" ||
		system.Confirmed.IsZero() || system.BootID.String() != "os" {
		t.Errorf("confirmed: %+v", system)
	}

	m.bind(2, api.BindingSpec{Capture: "golden"})
	m.boot()
	m.poll()
	m.does(api.Capturing, start(1, "capture"))
	if system := m.status().OS; m.hostKey() != nodetexttest.HostKey || system.Address.String() != "192.0.2.7" ||
		!system.Confirmed.IsZero() {
		t.Errorf("a disk that is captured is left as it is: %+v", system)
	}

	m.bind(3, api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	m.does(api.Wiping, start(1, "wipe"))
	if system := m.status().OS; system != nil {
		t.Errorf("a disk that is wiped has no system: %+v", system)
	}
}

func TestASystemThatNobodyReportedToHaveWrittenIsNotBelieved(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	for _, c := range []struct {
		name  string
		lines []report.Line
		kind  refusal.Kind
	}{
		{"no write", []report.Line{start(3, "configure")}, refusal.Forbidden},
		{"a write that started", []report.Line{start(2, "write")}, refusal.Forbidden},
		{"a write that failed", []report.Line{start(2, "write"), end(2, "write", 5)}, refusal.Forbidden},
	} {
		m.boot()
		m.poll()
		m.refused(c.name, m.confirms(m.installs(c.lines...), "192.0.2.7"), c.kind)
		m.ahead.Add(int64(time.Minute))
	}
	m.boot() // its own write is what counts
	m.poll()
	if err := m.report(start(12, "write"), end(12, "write", 0)); err != nil {
		t.Fatal(err)
	}
	m.boot()
	m.poll()
	m.refused("the write of the boot before", m.confirms(m.installs(start(3, "configure")), "192.0.2.7"),
		refusal.Forbidden)
	m.does(api.Writing, start(22, "write"), end(22, "write", 0))
	installed := m.installs(start(3, "configure"))
	m.does(api.Writing, report.Line{Kind: report.Begin, Step: 32, Of: 32, Verb: "write"})
	m.refused("a disk that is written again", m.confirms(installed, "192.0.2.7"), refusal.Forbidden)
	if m.status().Phase == api.Operational {
		t.Error("it is operational")
	}
}

func TestAWriteCountsForTheRenewedToken(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	m.does(api.Writing, start(2, "write"), end(2, "write", 0))
	m.ahead.Add(int64(40 * time.Minute)) // past half of its life
	before := m.token
	if _, _, err := m.Seed(t.Context(), mac, m.token); err != nil {
		t.Fatal(err)
	}
	renewed, err := m.Report(t.Context(), mac, m.token, report.Report{Generation: m.generation, Run: m.run,
		Boot: nodetext.CleanIdentifier("b1"), Lines: []report.Line{start(3, "configure")}})
	if err != nil || renewed == "" {
		t.Fatalf("%q, %v", renewed, err)
	}
	m.token = renewed
	_, _, err = m.Seed(t.Context(), mac, renewed)
	m.refused("another seed", err, refusal.Forbidden)
	m.token = before
	if err := m.confirms(m.installs(withKey()), "192.0.2.7"); err != nil {
		t.Error(err)
	}
}

func TestAHostKeyIsWithheldLikeASecret(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	m.enter("192.0.2.1")
	m.poll()
	m.does(api.Configuring, start(2, "write"), end(2, "write", 0), start(3, "configure"))
	m.refused("a host key within the hold", m.report(withKey()), refusal.Withheld)
	if got := m.hostKey(); got != "" {
		t.Errorf("the host key is %q", got)
	}
	m.after(6 * time.Minute)
	m.does(api.Configuring, withKey())
	if got := m.hostKey(); got != nodetexttest.HostKey {
		t.Errorf("the host key is %q", got)
	}
}
