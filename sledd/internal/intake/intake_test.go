// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// A drive that erases itself may report nothing for hours: the words of its node are movement.
func TestAPurgeMovesWhileItsNodeSpeaks(t *testing.T) {
	for level, counts := range map[string]bool{"purge": true, "clear": false} {
		m := newMachine(t, &api.BindingSpec{Wipe: level})
		m.boot()
		m.poll()
		m.does(api.Wiping, start(1, "wipe"))
		before := m.status().Moved
		m.does(api.Wiping, report.Line{Kind: report.Progress, Step: 1, Verb: "wipe"})
		if m.status().Moved.After(before) != counts {
			t.Errorf("%s: moved %v, after a word %v", level, before, m.status().Moved)
		}
	}
}

// writes reports progress of step 2, of which only other bytes are movement.
func (m *machine) writes() {
	m.Helper()
	m.does(api.Writing, report.Line{Kind: report.Progress, Step: 2, Verb: "write", Bytes: 5, Total: 9})
	if progress := m.status().Progress; progress == nil || progress.Bytes != 5 {
		m.Errorf("progress %+v", progress)
	}
	moved := m.status().Moved
	m.does(api.Writing, report.Line{Kind: report.Progress, Step: 2, Verb: "write", Bytes: 5, Total: 9})
	if moved.IsZero() || !m.status().Moved.Equal(moved) {
		m.Errorf("moved at %v, and at %v when the same bytes were reported again", moved, m.status().Moved)
	}
	m.does(api.Writing, report.Line{Kind: report.Progress, Step: 2, Verb: "write", Bytes: 6, Total: 9})
	if !m.status().Moved.After(moved) {
		m.Error("other bytes are no movement")
	}
	moved = m.status().Moved
	m.does(api.Writing, report.Line{Kind: report.Progress, Step: 2, Verb: "write"})
	if !m.status().Moved.Equal(moved) || m.status().Progress.Bytes != 6 {
		m.Errorf("a word without figures counts as movement: %+v", m.status())
	}
}

func TestAnInstallationEndsOperational(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	if !m.boot() {
		t.Fatal("a bound node boots its own disk")
	}
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Fatalf("the plan is %q", got)
	}
	if m.poll() != "" || m.counts.plans != 1 {
		t.Error("the plan was issued twice")
	}
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Writing, end(1, "wipe", 0), start(2, "write"))
	m.writes()
	m.does(api.Configuring, end(2, "write", 0), start(3, "configure"))
	seed, _, err := m.Seed(t.Context(), mac, m.token)
	if err != nil {
		t.Fatal(err)
	}
	installed := operationalToken(t, seed)
	m.does(api.Starting, end(3, "configure", 0), start(4, "kexec"),
		report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"})
	if m.boot() {
		t.Error("a node that starts its system boots the Sled system")
	}
	if status := m.status(); status.Start != "kexec" || status.Image != "d12" {
		t.Errorf("%+v", status)
	}
	for range 2 { // sent twice, counted once
		if err := m.Operational(t.Context(), mac, installed, api.OS{BootID: nodetext.CleanIdentifier("b2"),
			Start: "kexec"}, 1, 3); err != nil {
			t.Fatal(err)
		}
	}
	if status := m.status(); status.Phase != api.Operational || status.Start != "kexec" || m.count("operational") != 1 {
		t.Errorf("%+v, %d events", status, m.count("operational"))
	}
	err = m.Operational(t.Context(), mac, installed, api.OS{BootID: nodetext.CleanIdentifier("b2")}, 2, 3)
	m.refused("operational of another generation", err, refusal.Invalid)
}

// Nobody waits for the report of a system that was not configured, and its kexec says nothing about the model.
func TestAnImageThatIsNotConfiguredEndsUnconfirmed(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12", Configure: api.Unconfigured})
	m.boot()
	if got := m.poll(); got != "wipe write kexec" {
		t.Fatalf("the plan is %q", got)
	}
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Writing, end(1, "wipe", 0), start(2, "write"))
	m.writes()
	m.does(api.Unconfirmed, end(2, "write", 0), start(3, "kexec"),
		report.Line{Kind: report.End, Step: 3, Verb: "kexec", Way: "kexec"})
	status, tx := m.status(), m.load()
	if !tx.Satisfied() || status.Image != "d12" || status.Start != "kexec" || tx.Kexecs().Attempts != 0 {
		t.Errorf("satisfied: %t, %+v, %+v", tx.Satisfied(), status, tx.Kexecs())
	}
	if m.boot() {
		t.Error("the next start is that of the Sled system")
	}
	m.change(func(tx *nodetx.Tx) { tx.Unbind() })
	if m.boot() {
		t.Error("without a binding it no longer starts its disk")
	}
}

// operationalToken is the token in a seed.
func operationalToken(t *testing.T, seed []byte) string {
	t.Helper()
	archive := tar.NewReader(bytes.NewReader(seed))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			t.Fatal("no operational in the seed")
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "operational" {
			text, _ := io.ReadAll(archive)
			line, err := operand.Parse(strings.TrimSuffix(string(text), "\n"))
			if server, _ := line.Get("server"); err != nil || server != "https://s,https://[fd00::1]" {
				t.Fatalf("%s: %v", text, err)
			}
			token, _ := line.Get("token")
			return token
		}
	}
}

func TestAReportThatIsSentAgainIsCountedOnce(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	for range 3 {
		m.does(api.Failed, start(1, "wipe"), end(1, "wipe", 5))
	}
	if m.count("begin") != 1 || m.count("end") != 1 || len(m.counts.failed) != 1 {
		t.Errorf("%d begin, %d end, %d failures", m.count("begin"), m.count("end"), len(m.counts.failed))
	}
	if status := m.status(); status.Code != 5 || status.Reason.String() != "wipe failed" {
		t.Errorf("%+v", status)
	}
}

func TestABindingThatChangesReplacesThePlan(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	older := m.token
	m.does(api.Wiping, start(1, "wipe"))
	m.bind(2, api.BindingSpec{})
	m.refused("a report of the plan before", m.report(end(1, "wipe", 0)), refusal.Forbidden)
	_, _, err := m.Seed(t.Context(), mac, older)
	m.refused("a seed with the token before", err, refusal.Forbidden)
	if got := m.poll(); got != "wipe idle" || m.token == older {
		t.Errorf("the plan is %q", got)
	}
	m.does(api.Wiped, start(1, "wipe"), end(1, "wipe", 0), start(2, "idle"))
	if tx := m.load(); !tx.Satisfied() || tx.Status().Image != "" {
		t.Errorf("%+v", tx.Status())
	}
	m.generation = 9
	m.refused("a report of a plan that was never issued", m.report(start(1, "wipe")), refusal.Invalid)
}

func TestFactsAreTakenOnceABoot(t *testing.T) {
	m := newMachine(t, nil)
	m.boot()
	for range 2 {
		facts := api.Facts{BootID: nodetext.CleanIdentifier("b1"),
			DMI: nodetexttest.Facts(map[string]string{"vendor": "QEMU"})}
		if _, err := m.Facts(t.Context(), mac, m.token, report.Hardware{Facts: facts, Uptime: 2.5,
			Dropped: []string{"dmi serial: 257 bytes"}}); err != nil {
			t.Fatal(err)
		}
	}
	if m.count("facts") != 1 || m.load().DMI()["vendor"].String() != "QEMU" {
		t.Errorf("%d events, %v", m.count("facts"), m.load().DMI())
	}
	if newest := m.load().Events()[0]; newest.Detail.String() != "dropped: dmi serial: 257 bytes" {
		t.Errorf("the event of the facts: %+v", newest)
	}
	_, err := m.Facts(t.Context(), mac, m.token+"0", report.Hardware{})
	m.refused("a token that is none", err, refusal.Unauthorized)
	if _, err := m.Log(t.Context(), mac, m.token, 2, nodetext.RawOf([]byte("the end"))); err != nil ||
		string(*m.load().Log()) != "the end" {
		t.Errorf("%v: %q", err, *m.load().Log())
	}
}
