// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

const mac = "52:54:00:77:00:01"

// machine is a node, declared and bound, on an Intake with an empty store in memory.
type machine struct {
	*testing.T
	*intake.Intake
	memory     *storetest.Memory
	counts     counts
	ahead      atomic.Int64 // nanoseconds; a poll that waits reads the clock too
	token      string
	generation int64  // of the plan that it has
	run        int64  // of that plan; intake.None: none in this boot
	booted     string // boot id of the newest hello
}

// counts is an observer.
type counts struct {
	plans  int
	failed []string
}

func (c *counts) PlanHandedOut()                { c.plans++ }
func (c *counts) StepFailed(verb string, _ int) { c.failed = append(c.failed, verb) }

func newMachine(t *testing.T, binding *api.BindingSpec) *machine {
	t.Helper()
	m := &machine{T: t, memory: &storetest.Memory{}}
	clock := func() time.Time {
		ahead := m.ahead.Add(int64(time.Millisecond)) // keys of events differ
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(ahead))
	}
	m.Intake = intake.New(intake.Options{DB: &nodetx.DB{Store: m.memory, Clock: clock,
		Policy: nodetx.Policy{Rules: quick()}}, TokenLife: time.Hour,
		Observe: &m.counts,
		Hub:     events.New(m.memory, slog.New(slog.DiscardHandler)), ImageURLs: []string{"http://s/images"},
		UploadURL: "https://s/upload",
		System:    boot.System{URL: "http://s", Flavour: "generic", Servers: []string{"https://s"}}})
	m.change(func(tx *nodetx.Tx) { tx.Declare(api.NodeSpec{MAC: mac, Name: "n1", Disk: "serial:1"}) })
	if binding != nil {
		m.bind(1, *binding)
	}
	return m
}

func (m *machine) change(change func(tx *nodetx.Tx)) {
	m.Helper()
	err := m.DB.Update(m.Context(), mac, nil, func(tx *nodetx.Tx) error {
		change(tx)
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
}

func (m *machine) bind(generation int64, spec api.BindingSpec) {
	m.Helper()
	spec.Node = "n1"
	bound := nodetx.Binding{Binding: api.Binding{BindingSpec: spec, MAC: mac, Generation: generation}}
	if spec.Image != "" {
		bound.Digest = "sha256:" + strings.Repeat("8", 64)
		bound.Source = &api.ImageSpec{Name: spec.Image, Digest: bound.Digest, URLs: []string{"http://s/images/d12"},
			Bytes: 1 << 30, FileBytes: 1 << 28, UsedBytes: 1 << 29}
	}
	m.change(func(tx *nodetx.Tx) { tx.Bind(bound, true) })
}

// quick is rules by which a machine that restarts succeeds itself at once.
func quick() admission.Rules {
	rules := admission.DefaultRules()
	rules.Silence, rules.Answer = 0, 0
	return rules
}

// startsSled fetches the boot script and reports whether it starts the Sled system.
func (m *machine) startsSled() bool {
	m.Helper()
	script, err := m.Script(m.Context(), mac)
	if err != nil {
		m.Fatal(err)
	}
	return !script.Local
}

// boot does what the boot script says, and reports whether that was to start the Sled system.
func (m *machine) boot() bool {
	m.Helper()
	if !m.startsSled() {
		return false
	}
	m.enter("")
	return true
}

// poll returns the steps of the plan; empty when there is none.
func (m *machine) poll() string {
	m.Helper()
	m.tells()
	text := m.plan()
	if text == "" {
		return ""
	}
	got, err := plan.Parse(text)
	if err != nil {
		m.Fatal(err)
	}
	return got.Verbs()
}

// plan polls, and returns the plan as text.
func (m *machine) plan() string {
	m.Helper()
	answer, err := m.Poll(m.Context(), mac, m.token, m.run, 0)
	if err != nil {
		m.Fatal(err)
	}
	if answer.Token != "" {
		m.token = answer.Token
	}
	if answer.Plan != "" {
		if _, err := fmt.Sscanf(answer.Plan, "plan 1\ngeneration %d run %d\n", &m.generation, &m.run); err != nil {
			m.Fatal(err)
		}
	}
	return answer.Plan
}

// tells stores the facts of the boot, unless they are there.
func (m *machine) tells() {
	m.Helper()
	if facts := m.load().Facts(); facts == nil || facts.BootID.String() != m.booted {
		m.has(map[string]string{"name": "vda", "serial": "1", "bytes": "1000", "transport": "virtio"})
	}
}

// has stores facts with these disks, without the limits of a request.
func (m *machine) has(disks ...map[string]string) {
	m.Helper()
	facts := api.Facts{BootID: nodetext.CleanIdentifier(m.booted)}
	for _, one := range disks {
		facts.Disks = append(facts.Disks, nodetexttest.Facts(one))
	}
	m.change(func(tx *nodetx.Tx) { tx.Writes.Put(key.Facts+mac, nodetx.Encode(facts)) })
}

func (m *machine) report(lines ...report.Line) error {
	_, err := m.Report(m.Context(), mac, m.token, report.Report{Generation: m.generation, Run: m.run,
		Boot: nodetext.CleanIdentifier("b1"), Lines: lines})
	return err
}

// does reports lines, and wants a phase afterwards.
func (m *machine) does(want api.Phase, lines ...report.Line) {
	m.Helper()
	if err := m.report(lines...); err != nil {
		m.Fatal(err)
	}
	if got := m.status().Phase; got != want {
		m.Errorf("after %+v: phase %s, want %s", lines, got, want)
	}
}

func (m *machine) load() *nodetx.Tx {
	m.Helper()
	tx, err := m.DB.Load(m.Context(), mac, nodetx.Events(500), nodetx.Log, nodetx.Facts)
	if err != nil {
		m.Fatal(err)
	}
	return tx
}

func (m *machine) status() api.Status { return *m.load().Status() }

// count returns how many events of a kind the node has.
func (m *machine) count(kind string) int {
	n := 0
	for _, event := range m.load().Events() {
		if event.Kind == kind {
			n++
		}
	}
	return n
}

func start(step int, verb string) report.Line {
	return report.Line{Kind: report.Begin, Step: step, Of: 4, Verb: verb}
}

func end(step int, verb string, code int) report.Line {
	line := report.Line{Kind: report.End, Step: step, Verb: verb, Code: code, Seconds: 1}
	if code != 0 {
		line.Reason = api.Clean(verb + " failed")
	}
	return line
}

func (m *machine) refused(what string, err error, kind refusal.Kind) {
	m.Helper()
	if !refusal.Is(err, kind) {
		m.Errorf("%s: %v, want kind %d", what, err, kind)
	}
}

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
			_, token, _ := strings.Cut(strings.TrimSpace(string(text)), "token=")
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
