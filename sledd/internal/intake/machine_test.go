// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"fmt"
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

func (c *counts) PlanHandedOut() { c.plans++ }

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
		System:    boot.System{URL: "http://s", Flavour: "generic", Servers: []string{"https://s", "https://[fd00::1]"}}})
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
	m.StoreProgress(m.Context())
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
