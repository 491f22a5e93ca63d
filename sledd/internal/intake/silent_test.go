// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/console"
)

const panics = "2026-01-02T03:04:05Z sled: claim K7QF-2M9D\r\n2026-01-02T03:04:06Z one\x1b[2J\r\n" +
	"2026-01-02T03:04:07Z Kernel panic - not syncing: at all\r\n"

// What a machine that has a job with a kernel does before it falls silent.
func leavesForKernel(m *machine) {
	m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0), start(2, "start"), end(2, "start", 0))
}

func startsKernel(m *machine) {
	m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
	m.returns(api.Fetching, 2, newer)
	m.poll()
}

func startsPayload(m *machine) {
	startsKernel(m)
	m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
}

func TestJobsOfSilentNodes(t *testing.T) {
	for _, c := range []struct {
		name    string
		until   func(m *machine)
		timeout int
		limit   time.Duration
		state   api.JobState
		why     string
	}{
		{"its kernel does not come up", leavesForKernel, 60, 20 * time.Minute, api.JobLost,
			"kernel " + newer + " of image k did not come up within 20m0s after kernel " + stock},
		{"on its kernel", startsKernel, 60, 20 * time.Minute, api.JobLost, "silent for 20m0s on kernel " + newer},
		{"its payload runs", startsPayload, 3600, time.Hour + 5*time.Second, api.JobLost,
			"silent for 1h0m5s on kernel " + newer},
		{"a short payload runs", startsPayload, 60, 5 * time.Minute, api.JobLost, "silent for 5m0s on kernel " + newer},
		{"it was cancelled", func(m *machine) { leavesForKernel(m); m.cancel() }, 60, 20 * time.Minute, api.JobCancelled, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := onKernel(t, nil, api.Idle, api.JobSpec{})
			m.changeJob(func(job *api.Job) { job.Timeout = c.timeout })
			m.boot()
			m.runs(stock)
			m.poll()
			c.until(m)
			m.shows(panics)
			m.after(c.limit - time.Second)
			m.endsSilent()
			if job := m.load().Job(); job == nil {
				t.Fatal("ended too early")
			}
			m.after(2 * time.Second)
			m.endsSilent()
			job := m.ended()
			if job.State != c.state || !strings.Contains(job.Reason.String(), c.why) {
				t.Errorf("%+v", job)
			}
			if why := job.Reason.String(); c.why != "" &&
				!strings.HasSuffix(why, "; its console ends: one | Kernel panic - not syncing: at all") {
				t.Errorf("reason %q", why)
			}
			if got := m.load(); got.Detour() != nil || got.Status().Phase != api.Idle {
				t.Errorf("phase %s, %+v", got.Status().Phase, got.Detour())
			}
		})
	}
}

// A job that waits does so until the node boots.
func TestAJobThatWaitsIsNotLost(t *testing.T) {
	m := withJob(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.after(48 * time.Hour)
	m.endsSilent()
	if job := m.load().Job(); job == nil || job.State != api.JobWaiting {
		t.Errorf("%+v", job)
	}
}

func (m *machine) endsSilent() {
	m.Helper()
	if err := m.EndSilent(m.Context()); err != nil {
		m.Fatal(err)
	}
}

// shows is what the record of its console has.
func (m *machine) shows(text string) {
	m.Helper()
	m.Consoles = console.Directory(m.TempDir())
	if err := os.WriteFile(m.Consoles.File(mac), []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// What the console shows after a power cycle is of another kernel.
func TestTheConsoleBeforeAPowerCycle(t *testing.T) {
	for _, announced := range []bool{true, false} {
		m := onKernel(t, nil, api.Idle, api.JobSpec{})
		m.boot()
		m.runs(stock)
		m.poll()
		leavesForKernel(m)
		m.shows(panics + "2026-01-02T03:10:00Z Booting from the network\r\n")
		m.after(time.Minute)
		if announced {
			m.decide(admission.Expect{For: 15 * time.Minute, By: "power", Reset: true})
		}
		m.after(10 * time.Minute)
		m.boot()
		m.runs(stock)
		m.poll()
		job, want := m.ended(), "kernel k did not start: the node came with kernel "+stock+" through its firmware"
		if announced {
			want += "; its console ends: one | Kernel panic - not syncing: at all"
		}
		if job.State != api.JobLost || job.Reason.String() != want {
			t.Errorf("%+v", job)
		}
	}
}
