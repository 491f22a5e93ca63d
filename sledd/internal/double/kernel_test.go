// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// Releases of the kernel of jobs, and of that of the boot server.
const newer, stock = "6.12", "6.1"

// onKernels is a sledd with node n1, which waits for jobs, and their images.
func onKernels(t *testing.T, options sleddtest.Options, level string) (s *sleddtest.Sledd, settings string) {
	t.Helper()
	options.UploadDirectory = t.TempDir()
	s = sleddtest.StartWith(t, options)
	node := sleddtest.Node(1)
	node.Admission = level
	if _, err := s.Client().PutNode(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	s.RegisterRoot("hpl")
	_, err := s.Client().PutImage(t.Context(), api.ImageSpec{Name: "k", Kind: api.KernelImage,
		Digest: sleddtest.DigestOf("k"), URLs: []string{"http://10.77.0.1/images/k"}, Bytes: 512, FileBytes: 1,
		Kernel: &api.Kernel{Release: newer}})
	if err != nil {
		t.Fatal(err)
	}
	return s, "payload: {exit: 7, folder: " + options.UploadDirectory + "}\nkernel: {release: '" + newer + "'"
}

// requestJob requests a job of node n1; kernel is empty for that of the boot server.
func requestJob(t *testing.T, s *sleddtest.Sledd, kernel string) api.Job {
	t.Helper()
	job, err := s.Client().CreateJob(t.Context(), api.JobSpec{Node: "n1", Image: "hpl", Kernel: kernel})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// ended returns a job once it has ended.
func ended(t *testing.T, s *sleddtest.Sledd, job api.Job) api.Job {
	t.Helper()
	patience.Until(t, "the job has ended", func() bool {
		var err error
		job, err = s.Client().Job(t.Context(), job.ID)
		return err == nil && job.State.Ended()
	})
	return job
}

// The node runs a job on another kernel and returns to its own. Its level stays, although it starts twice, at each
// level that a site may have: without a window, and without another word of a person.
func TestTheLevelOfAJobOnAKernel(t *testing.T) {
	for level, admit := range map[string]func(t *testing.T, s *sleddtest.Sledd){
		"open":     func(*testing.T, *sleddtest.Sledd) {},
		"expected": expects,
		"proven":   reads,
	} {
		t.Run(level, func(t *testing.T) {
			s, settings := onKernels(t, sleddtest.Options{}, level)
			machine(t, s, t.TempDir(), settings+"}\n")
			admit(t, s)
			if node := await(t, s, api.Idle); node.AdmissionLevel != level {
				t.Fatalf("it waits at level %s", node.AdmissionLevel)
			}
			job := ended(t, s, requestJob(t, s, "k"))
			if job.State != api.JobDone || *job.Exit != 7 || job.Before != stock || job.Release != newer ||
				job.Level != level {
				t.Errorf("%+v", job)
			}
			patience.Until(t, "its own kernel runs again", func() bool {
				node := s.Node(1)
				return node.Facts != nil && node.Facts.Kernel["release"].String() == stock &&
					node.Status.Phase == api.Idle && node.AdmissionLevel == level
			})
		})
	}
}

// expects a boot of node n1, once.
func expects(t *testing.T, s *sleddtest.Sledd) {
	t.Helper()
	if _, err := s.Client().Expect(t.Context(), "n1", api.ExpectSpec{By: "test", Seconds: 900}); err != nil {
		t.Fatal(err)
	}
}

// reads the code of node n1, and admits it, once.
func reads(t *testing.T, s *sleddtest.Sledd) {
	t.Helper()
	var codes []string
	patience.Until(t, "it waits for a person", func() bool {
		codes = s.Node(1).WaitingClaims
		return len(codes) == 1
	})
	if _, err := s.Client().Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: codes[0]}}); err != nil {
		t.Fatal(err)
	}
}

// uncoded is the record of a console without the codes of claims, which count for nothing here.
type uncoded struct{ io.Writer }

func (u uncoded) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "sled: claim ") {
		return len(line), nil
	}
	return u.Writer.Write(line) //nolint:wrapcheck // of a file
}

// A kernel never comes up: its job is lost with what the console shows last, and after a power cycle the next job runs
// on the kernel of the boot server.
func TestAKernelThatNeverComesUp(t *testing.T) {
	var ahead atomic.Int64
	folder, dir := t.TempDir(), t.TempDir()
	s, settings := onKernels(t, sleddtest.Options{ConsoleDirectory: folder, Now: func() time.Time {
		return time.Now().Add(time.Duration(ahead.Load()))
	}}, "")
	record, err := os.Create(console.Directory(folder).File(sleddtest.MAC(1)))
	if err != nil {
		t.Fatal(err)
	}
	defer record.Close()
	settings += ", hangs: 1}\n"
	cut := recorded(t, s, dir, settings, uncoded{record})
	await(t, s, api.Idle)
	job := requestJob(t, s, "k")
	patience.Until(t, "its kernel hangs", func() bool {
		text, err := os.ReadFile(record.Name())
		return err == nil && strings.Contains(string(text), "hangs: kernel "+newer)
	})
	s.EndSilent()
	if job, err := s.Client().Job(t.Context(), job.ID); err != nil || job.State != api.JobPreparing {
		t.Fatalf("%v, %+v", err, job)
	}
	ahead.Store(int64(api.Starting.Limit() + time.Second))
	s.EndSilent()
	job = ended(t, s, job)
	why := "kernel " + newer + " of image k did not come up within 20m0s after kernel " + stock
	if reason := job.Reason.String(); job.State != api.JobLost || !strings.HasPrefix(reason, why) ||
		!strings.HasSuffix(reason, "hangs: kernel "+newer) {
		t.Errorf("%+v", job)
	}
	cut()
	recorded(t, s, dir, settings, uncoded{record})
	if job := ended(t, s, requestJob(t, s, "")); job.State != api.JobDone || job.Release != stock {
		t.Errorf("the next one: %+v", job)
	}
}
