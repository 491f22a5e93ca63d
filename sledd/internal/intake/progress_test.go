// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// writing is a node in the middle of a write.
func writing(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Writing, end(1, "wipe", 0), start(2, "write"))
	return m
}

func moved(bytes int64) report.Line {
	return report.Line{Kind: report.Progress, Step: 2, Verb: "write", Bytes: bytes, Total: 100}
}

// says reports lines; progress stays in memory.
func (m *machine) says(lines ...report.Line) error {
	_, err := m.Report(m.Context(), mac, m.token, report.Report{Generation: m.generation, Run: m.run,
		Boot: nodetext.CleanIdentifier("b1"), Lines: lines})
	return err
}

func TestProgressIsNoCommit(t *testing.T) {
	m := writing(t)
	for i := range int64(3) {
		if reads, commits := m.calls(func() error { return m.says(moved(i)) }); reads != 1 || commits != 0 {
			t.Errorf("%d reads and %d commits", reads, commits)
		}
	}
	if _, commits := m.calls(func() error { m.StoreProgress(t.Context()); return nil }); commits != 1 {
		t.Errorf("%d commits of a batch", commits)
	}
	if got := m.status().Progress; got == nil || got.Bytes != 2 {
		t.Errorf("stored: %+v", got)
	}
	if _, commits := m.calls(func() error { m.StoreProgress(t.Context()); return nil }); commits != 0 {
		t.Errorf("%d commits of nothing", commits)
	}
}

func TestTheEndOfAStepHasItsProgress(t *testing.T) {
	m := writing(t)
	if err := errors.Join(m.says(moved(60)), m.says(end(2, "write", 5))); err != nil {
		t.Fatal(err)
	}
	if newest := m.load().Events()[0]; newest.Bytes != 60 || m.status().Phase != api.Failed {
		t.Errorf("%+v", newest)
	}
	m.StoreProgress(t.Context())
	if m.status().Progress != nil {
		t.Error("a step that has ended shows progress")
	}
}

// Another sledd has the end of a step, this one has older progress of it.
func TestProgressOfAnOlderRequestIsDropped(t *testing.T) {
	m := writing(t)
	other := intake.New(m.Options)
	if err := m.says(moved(60)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Report(t.Context(), mac, m.token, report.Report{Generation: m.generation, Run: m.run,
		Boot: nodetext.CleanIdentifier("b1"), Lines: []report.Line{end(2, "write", 0)}}); err != nil {
		t.Fatal(err)
	}
	m.StoreProgress(t.Context())
	if m.status().Progress != nil {
		t.Error("a step that has ended shows progress")
	}
}

// A word beside another claim decides who is the node.
func TestAWordBesideARivalIsCommitted(t *testing.T) {
	m := writing(t)
	if _, _, err := m.Hello(t.Context(), mac, "", admission.Hello{Boot: "other", NIC: mac},
		intake.Source{Address: "10.0.0.9"}); err != nil {
		t.Fatal(err)
	}
	if _, commits := m.calls(func() error { return m.says(moved(1)) }); commits != 1 {
		t.Errorf("%d commits", commits)
	}
}

func TestANodeThatReportsIsNotSilent(t *testing.T) {
	m := writing(t)
	m.ahead.Add(int64(time.Minute))
	before := m.load().Admission().Incumbent.Seen
	if err := m.says(moved(1)); err != nil {
		t.Fatal(err)
	}
	m.StoreProgress(t.Context())
	if seen := m.load().Admission().Incumbent.Seen; !seen.After(before.Add(time.Minute)) {
		t.Errorf("seen %s, before %s", seen, before)
	}
}

func TestABatchSurvivesAChangeOfOneNode(t *testing.T) {
	m := writing(t)
	if err := m.says(moved(7)); err != nil {
		t.Fatal(err)
	}
	m.memory.Before(func(call string) error {
		if call == "read" {
			return nil
		}
		m.memory.Before(nil)
		m.change(func(tx *nodetx.Tx) { tx.Declare(api.NodeSpec{MAC: mac, Name: "n2", Disk: "serial:1"}) })
		return nil
	})
	m.StoreProgress(t.Context())
	if got := m.status().Progress; got == nil || got.Bytes != 7 {
		t.Errorf("stored: %+v", got)
	}
}

func TestPauseFor(t *testing.T) {
	for working, want := range map[int]int64{0: 0, 1: 1, 500: 1, 501: 2, 5_000: 10, 100_000: 10} {
		if got := intake.PauseFor(working); got != want {
			t.Errorf("%d nodes: %d s, want %d s", working, got, want)
		}
	}
}
