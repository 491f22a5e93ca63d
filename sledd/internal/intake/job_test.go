// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const jobID = "1kq7d2g3x9qa"

// jobs is a machine that has booted with a job; the image is registered unless its kind is empty.
func jobs(t *testing.T, binding *api.BindingSpec, phase api.Phase, job api.JobSpec, kind string) *machine {
	t.Helper()
	m := withJob(t, binding, phase, job, kind)
	m.boot()
	return m
}

func withJob(t *testing.T, binding *api.BindingSpec, phase api.Phase, job api.JobSpec, kind string) *machine {
	t.Helper()
	m := newMachine(t, binding)
	m.image(kind)
	m.change(func(tx *nodetx.Tx) {
		status := tx.Status()
		status.Generation, status.Run.Generation = tx.Generation(), tx.Generation()
		tx.Enter(phase)
	})
	m.gets(job)
	return m
}

// gets requests a job.
func (m *machine) gets(job api.JobSpec, secrets ...string) {
	m.Helper()
	job.Image, job.Timeout, job.Grace = "hpl", 60, 5
	m.change(func(tx *nodetx.Tx) {
		tx.SetDetour(detour.Detour{Job: &detour.Job{Job: api.Job{JobSpec: job, ID: jobID, MAC: mac,
			State: api.JobWaiting, SecretNames: secrets}}})
	})
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

func (m *machine) cancel() { m.changeJob(func(job *api.Job) { job.Cancelled = m.DB.Now() }) }

func (m *machine) changeJob(change func(job *api.Job)) {
	m.change(func(tx *nodetx.Tx) {
		next, job := *tx.Detour(), *tx.Job()
		change(&job.Job)
		next.Job = &job
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
			if c.want == "idle" {
				m.does(c.phase, end(1, c.want, 0))
				if got := m.poll(); got != "" || m.status().Phase != c.phase {
					t.Errorf("later %q, phase %s", got, m.status().Phase)
				}
			}
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

// A job looks for its image each few seconds, perhaps for hours, on hundreds of nodes.
func TestALookForTheImageIsNotStored(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, "")
	m.poll()
	reads, commits := 0, 0
	m.memory.Before(func(call string) error {
		if call == "commit" {
			commits++
		} else if reads++; reads < 20 {
			m.ahead.Add(int64(time.Minute)) // so that the next look comes at once
		}
		return nil
	})
	if _, err := m.Poll(t.Context(), mac, m.token, m.run, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if reads < 20 || commits != 1 { // the poll itself
		t.Errorf("%d reads, %d commits", reads, commits)
	}
}

// At level expected, only a job with secrets waits until a rival would have shown itself.
func TestAJobWithSecretsWaitsForTheHold(t *testing.T) {
	for _, secrets := range [][]string{nil, {"key"}} {
		m := newMachine(t, nil).at(admission.Expected)
		m.image(api.RootImage)
		m.gets(api.JobSpec{}, secrets...)
		m.decide(admission.Expect{For: time.Minute, By: "power"})
		m.enter("192.0.2.1")
		if got := m.poll(); (got == "fetch run") != (len(secrets) == 0) {
			t.Errorf("secrets %q: the plan is %q", secrets, got)
		}
		if len(secrets) == 0 {
			continue
		}
		if job := m.load().Job(); !strings.HasPrefix(job.Reason.String(), "its secrets are withheld: ") ||
			m.status().Withheld.IsZero() || m.count("hold") != 1 {
			t.Errorf("%+v", job)
		}
		m.after(admission.DefaultRules().Hold)
		if got := m.poll(); got != "fetch run" || !m.load().Job().Reason.IsZero() {
			t.Errorf("after the hold: %q, %+v", got, m.load().Job())
		}
	}
}

// The begin of a step may arrive late, or never: a payload whose configuration was fetched counts as started.
func TestAPayloadWithoutABeginIsStartedOnce(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.poll()
	m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
	for range 2 { // its answer was lost
		if _, _, err := m.JobFolder(t.Context(), mac, m.token, jobID); err != nil {
			t.Fatal(err)
		}
	}
	m.boot()
	if job := m.ended(); job.State != api.JobLost || job.Started.IsZero() {
		t.Errorf("%+v", job)
	}
}

func TestABindingIsCarriedOutAfterTheJob(t *testing.T) {
	image := &api.BindingSpec{Image: "d12"}
	for _, c := range []struct {
		name    string
		binding *api.BindingSpec
		phase   api.Phase
		before  bool // it was bound before the job
	}{
		{"made meanwhile", nil, api.Idle, false},
		{"made meanwhile, a system installed", image, api.Operational, false},
		{"made before, a system installed", image, api.Operational, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := withJob(t, c.binding, c.phase, api.JobSpec{After: api.AfterReturn}, api.RootImage)
			if c.before {
				m.bind(2, *image)
			}
			m.boot()
			m.poll()
			m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
			if !c.before {
				m.bind(2, *image)
			}
			m.does(c.phase, ran(0, "payload", ""))
			if got := m.poll(); !strings.HasSuffix(got, "write configure kexec") {
				t.Errorf("then %q", got)
			}
		})
	}
}
