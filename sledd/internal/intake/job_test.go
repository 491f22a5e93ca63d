// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const jobID = "1kq7d2g3x9qa"

// jobs is a machine that has a job; the image is registered unless its kind is empty.
func jobs(t *testing.T, binding *api.BindingSpec, phase api.Phase, job api.JobSpec, kind string) *machine {
	t.Helper()
	m := newMachine(t, binding)
	m.image(kind)
	m.change(func(tx *nodetx.Tx) {
		status := tx.Status()
		status.Generation, status.Run.Generation = tx.Generation(), tx.Generation()
		tx.Enter(phase)
	})
	job.Image, job.Timeout, job.Grace = "hpl", 60, 5
	m.change(func(tx *nodetx.Tx) {
		tx.SetDetour(detour.Detour{Job: &detour.Job{Job: api.Job{JobSpec: job, ID: jobID, MAC: mac,
			State: api.JobWaiting}}})
	})
	m.boot()
	return m
}

func (m *machine) image(kind string) {
	m.Helper()
	if kind == "" {
		return
	}
	m.change(func(tx *nodetx.Tx) {
		tx.Writes.Put(key.Images+"hpl", nodetx.Encode(nodetx.StoredImage{ImageSpec: api.ImageSpec{Name: "hpl", Kind: kind,
			Digest: "sha256:" + strings.Repeat("7", 64), URLs: []string{"http://s/images/hpl"},
			Container: &api.Container{Command: []string{"./xhpl"}}}}))
	})
}

// ended returns the record of the job that has ended.
func (m *machine) ended() (job api.Job) {
	m.Helper()
	snapshot, err := m.memory.Read(m.Context(), store.Key(key.Jobs+jobID))
	if err != nil {
		m.Fatal(err)
	}
	if kv, found := snapshot.One(0); found {
		if err := nodetx.Decode(kv, &job); err != nil {
			m.Fatal(err)
		}
	}
	return job
}

func ran(exit int, by, output string) report.Line {
	line := end(2, "run", 0)
	sum := sha256.Sum256([]byte(output))
	line.Ran = &report.Ran{Exit: exit, By: by}
	if output != "" {
		line.Ran.Output = report.Stream{Bytes: int64(len(output)), SHA256: hex.EncodeToString(sum[:])}
	}
	return line
}

func (m *machine) cancel() {
	m.change(func(tx *nodetx.Tx) {
		next, job := *tx.Detour(), *tx.Job()
		job.Cancelled, next.Job = tx.Now, &job
		tx.SetDetour(next)
	})
}

func TestAJobLeavesItsNodeAsBefore(t *testing.T) {
	wiped, image := &api.BindingSpec{}, &api.BindingSpec{Image: "d12"}
	for _, c := range []struct {
		name    string
		binding *api.BindingSpec
		phase   api.Phase
		after   string
		want    string // the plan that follows
		sled    bool   // what it boots afterwards
	}{
		{"idle", nil, api.Idle, "return", "idle", true},
		{"wiped", wiped, api.Wiped, "return", "idle", true},
		{"failed", image, api.Failed, "return", "idle", true},
		{"operational", image, api.Operational, "return", "reboot", false},
		{"operational, hold", image, api.Operational, "hold", "idle", false},
		{"idle, poweroff", nil, api.Idle, "poweroff", "poweroff", true},
		{"operational, poweroff", image, api.Operational, "poweroff", "poweroff", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := jobs(t, c.binding, c.phase, api.JobSpec{After: c.after}, api.RootImage)
			if got := m.poll(); got != "fetch run" {
				t.Fatalf("the plan is %q", got)
			}
			m.does(api.Fetching, start(1, "fetch"))
			m.does(api.Fetching, end(1, "fetch", 0))
			m.does(api.Running, start(2, "run"))
			if got := m.status().Before; got != c.phase {
				t.Errorf("before it: %q", got)
			}
			m.does(c.phase, ran(7, "payload", ""))
			job := m.ended()
			if job.State != api.JobDone || job.Exit == nil || *job.Exit != 7 || m.load().Detour() != nil {
				t.Errorf("%+v", job)
			}
			if got := m.poll(); got != c.want {
				t.Errorf("then %q, want %q", got, c.want)
			}
			m.does(c.phase, start(1, c.want))
			if got := m.startsSled(); got != c.sled {
				t.Errorf("starts the Sled system: %t", got)
			}
			if got := m.load(); got.Status().Generation != got.Generation() {
				t.Errorf("generation %d, of the binding %d", got.Status().Generation, got.Generation())
			}
		})
	}
}

func TestAPayloadIsStartedOnce(t *testing.T) {
	m := jobs(t, &api.BindingSpec{Image: "d12"}, api.Operational, api.JobSpec{}, api.RootImage)
	m.poll()
	m.does(api.Fetching, start(1, "fetch"))
	m.boot() // a power cut while it fetches
	if got := m.poll(); got != "fetch run" {
		t.Fatalf("after a restart while it fetched: %q", got)
	}
	m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
	m.does(api.Running, start(2, "run"))
	m.does(api.Running, start(2, "run")) // its answer was lost
	if got := m.poll(); got != "" {
		t.Errorf("a plan beside the payload: %q", got)
	}
	m.boot() // a power cut while it runs
	if job := m.ended(); job.State != api.JobLost || job.EndedBy != "node" {
		t.Errorf("%+v", job)
	}
	if got := m.poll(); got != "reboot" {
		t.Errorf("then %q, want its disk", got)
	}
}

func TestCancelledJobs(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.poll()
	m.does(api.Fetching, start(1, "fetch"))
	m.cancel()
	m.refused("start of a cancelled payload", m.report(start(2, "run")), refusal.Forbidden)
	if got := m.poll(); got != "idle" {
		t.Errorf("after a cancel while it fetches: %q", got)
	}
	m.does(api.Idle, start(1, "idle"))
	if job := m.ended(); job.State != api.JobCancelled || !job.Started.IsZero() {
		t.Errorf("%+v", job)
	}

	m = jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.poll()
	m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
	m.cancel()
	signal, err := m.JobSignal(t.Context(), mac, m.token, jobID, "", 0)
	if err != nil || signal != "TERM" {
		t.Errorf("signal %q, %v", signal, err)
	}
	m.does(api.Idle, ran(143, "cancel", ""))
	if job := m.ended(); job.State != api.JobCancelled || *job.Exit != 143 {
		t.Errorf("%+v", job)
	}
}

func TestAJobWaitsForItsImage(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, "")
	if got := m.poll(); got != "" {
		t.Errorf("without an image: %q", got)
	}
	if got := m.load().Job().Reason.String(); got != "image hpl is not registered" {
		t.Error(got)
	}
	m.image(api.RootImage)
	if got := m.poll(); got != "fetch run" || !m.load().Job().Reason.IsZero() {
		t.Errorf("with it: %q", got)
	}

	m = jobs(t, nil, api.Idle, api.JobSpec{}, api.DiskImage)
	if got := m.poll(); got != "idle" || m.ended().State != api.JobFailed {
		t.Errorf("an image of a disk: %q, %+v", got, m.ended())
	}
}

func TestABindingIsCarriedOutAfterTheJob(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.poll()
	m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
	m.bind(1, api.BindingSpec{Image: "d12"})
	m.does(api.Idle, ran(0, "payload", ""))
	if got := m.poll(); !strings.HasSuffix(got, "write configure kexec") {
		t.Errorf("then %q", got)
	}
}

// A job is done only if its output has arrived as it was sent.
func TestOutputThatHasNotArrived(t *testing.T) {
	for came, want := range map[string]api.JobState{"hello\n": api.JobDone, "hel": api.JobLost, "jello\n": api.JobLost} {
		m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
		m.Uploads.Directory = t.TempDir()
		folder := filepath.Join(m.Uploads.Directory, "jobs", jobID)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, part := range map[string]string{"out.000001": came[:2], "out.000002": came[2:], "err.000001": "x"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(part), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m.poll()
		m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
		m.does(api.Idle, ran(0, "payload", "hello\n"))
		if job := m.ended(); job.State != want || *job.Exit != 0 {
			t.Errorf("%q came: %+v", came, job)
		}
	}
}

// Reading a pipe without a writer never ends.
func TestNothingIsReadForAStranger(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.Uploads.Directory = t.TempDir()
	folder := filepath.Join(m.Uploads.Directory, "jobs", jobID)
	err := errors.Join(os.MkdirAll(folder, 0o700), unix.Mkfifo(filepath.Join(folder, "out.000001"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	m.poll()
	m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
	m.token = strings.Repeat("0", len(m.token))
	m.refused("a report of a stranger", m.report(ran(0, "payload", "hello\n")), refusal.Unauthorized)
}
