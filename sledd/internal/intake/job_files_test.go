// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

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

// The exit code is known, and that output is lost, with the reason if sledd knows it.
func TestOutputThatIsRefused(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "52"), []byte("xx"), 0o600); err != nil {
		t.Fatal(err)
	}
	for directory, want := range map[string]string{
		"": "", t.TempDir(): "", full: ": the captured images and files of jobs in " + full +
			" have 0 MiB, the quota is 0 MiB (sledd --upload-quota): delete some",
	} {
		m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
		m.Uploads.Directory, m.Uploads.Quota = directory, 1
		m.poll()
		m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
		line := ran(4, "payload", "hello\n")
		line.Ran.Missing = "out"
		m.does(api.Idle, line)
		want = "the boot server has not taken all of out" + want
		if job := m.ended(); job.State != api.JobLost || *job.Exit != 4 || job.Reason.String() != want {
			t.Errorf("%q: %+v", directory, job)
		}
	}
}

// Another boot server has the files: what is here says nothing.
func TestOutputThatWentToAnotherBootServer(t *testing.T) {
	m := jobs(t, nil, api.Idle, api.JobSpec{}, api.RootImage)
	m.poll()
	m.Uploads.Directory, m.UploadURL = t.TempDir(), "https://other/upload"
	m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
	m.does(api.Idle, ran(0, "payload", "hello\n"))
	if job := m.ended(); job.State != api.JobDone {
		t.Errorf("%+v", job)
	}
}
