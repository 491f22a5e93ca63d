// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

const passed = "Pass:  1"

var payloadsAsJobs = []struct {
	name     string
	image    api.Payload
	settings string
	state    api.JobState
	by       string
	exit     int // negative: none
}{
	{"it says so", api.Payload{Confirm: api.ConfirmHTTP}, "payload: {exit: 7}", api.JobDone, "payload", 7},
	{"its console shows it", api.Payload{Confirm: api.ConfirmConsole, Console: passed},
		"payload: {prints: '" + passed + "'}", api.JobDone, "payload", 0},
	{"the machine comes back", api.Payload{Confirm: api.ConfirmNone}, "payload: {back: true, seconds: 0.5}",
		api.JobDone, "node", 0},
	{"it comes back too early", api.Payload{Confirm: api.ConfirmHTTP}, "payload: {back: true}", api.JobLost, "node", -1},
	{"nothing within its time", api.Payload{Confirm: api.ConfirmHTTP}, "hang_at_kexec: 1", api.JobFailed, "timeout", -1},
}

// A node with a system runs a payload once, and after a power cycle that system again: its disk is as it was.
func TestPayloadsAsJobs(t *testing.T) {
	for _, c := range payloadsAsJobs {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			s := sleddtest.StartWith(t, sleddtest.Options{ConsoleDirectory: folder})
			s.Declare(1)
			s.Register("d12")
			s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
			if c.image.Confirm != api.ConfirmConsole {
				folder = t.TempDir() // not recorded: a code on it makes the node wait for a power cycle
			}
			record, err := os.Create(console.Directory(folder).File(sleddtest.MAC(1)))
			if err != nil {
				t.Fatal(err)
			}
			defer record.Close()
			dir := t.TempDir()
			cut := machine(t, s, dir, "")
			await(t, s, api.Operational)
			cut()
			files := filepath.Join(dir, mac.Hyphens(sleddtest.MAC(1)))
			before, err := os.ReadFile(files + ".disk")
			if err != nil {
				t.Fatal(err)
			}
			job := requestPayload(t, s, c.image, c.by == "timeout")
			cut = recorded(t, s, dir, c.settings+"\n", record)
			patience.Until(t, "the job has ended", func() bool {
				job, err = s.Client().Job(t.Context(), job.ID)
				return err == nil && job.State.Ended()
			})
			if job.State != c.state || job.EndedBy != c.by || (c.exit < 0) != (job.Exit == nil) ||
				job.Exit != nil && *job.Exit != c.exit {
				t.Errorf("%+v", job)
			}
			cut()
			recorded(t, s, dir, "", record)
			patience.Until(t, "its system runs again", func() bool {
				text, err := os.ReadFile(record.Name())
				return err == nil && strings.Contains(string(text), "starts its disk")
			})
			if node := s.Node(1); node.Status.Phase != api.Operational || node.Job != nil {
				t.Errorf("%+v", node)
			}
			if after, err := os.ReadFile(files + ".disk"); err != nil || string(after) != string(before) {
				t.Errorf("%v, disk %q, before %q", err, after, before)
			}
			if ran, err := os.ReadFile(files + ".ran"); err != nil || strings.Count(string(ran), "\n") != 1 {
				t.Errorf("%v, started: %q", err, ran)
			}
		})
	}
}

// requestPayload registers a payload, and requests a job of it, whose time is short or longer than any test waits.
func requestPayload(t *testing.T, s *sleddtest.Sledd, payload api.Payload, short bool) api.Job {
	t.Helper()
	limit := 3600
	if short {
		limit = 3
	}
	payload.Format = api.FormatLinux
	if _, err := s.Client().PutImage(t.Context(), api.ImageSpec{Name: "memtest", Kind: api.KernelImage,
		Digest: sleddtest.DigestOf("memtest"), URLs: []string{"http://10.77.0.1/images/memtest"}, Bytes: 512,
		FileBytes: 1, Payload: &payload}); err != nil {
		t.Fatal(err)
	}
	job, err := s.Client().CreateJob(t.Context(),
		api.JobSpec{Node: "n1", Image: "memtest", Timeout: limit, Interrupt: true})
	if err != nil {
		t.Fatal(err)
	}
	return job
}
