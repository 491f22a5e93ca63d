// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/double"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// server is a sledd: in this process, or in one that is killed.
type server interface {
	Client() *api.Client
	Stop()
	Resume()
}

// rack is doubles that wait in the Sled system, and where their files are.
type rack struct {
	*testing.T
	server
	store            *storetest.Memory
	machines, upload string
}

// number is that of a variable of the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// boot powers n doubles on, whose settings differ as change has it, and waits until they wait.
func boot(t *testing.T, n int, payload double.Payload, change func(i int, settings *double.Settings)) *rack {
	t.Helper()
	r := &rack{T: t, store: &storetest.Memory{}, machines: t.TempDir(), upload: t.TempDir()}
	sledd := sleddtest.StartWith(t, sleddtest.Options{Store: r.store, UploadDirectory: r.upload})
	sledd.DeclareMany(n)
	sledd.RegisterRoot("hpl")
	r.server = sledd
	r.power(sledd.URL, n, payload, change)
	return r
}

// power powers the doubles on, and waits until they wait.
func (r *rack) power(url string, n int, payload double.Payload, change func(i int, settings *double.Settings)) {
	t := r.T
	t.Helper()
	payload.Folder = r.upload
	ctx, off := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { off(); running.Wait() })
	for i := range n {
		one := &double.Machine{Dir: r.machines, MAC: sleddtest.MAC(i),
			Settings: double.Settings{Server: url, StepSeconds: 0.1, Payload: payload}}
		change(i, &one.Settings)
		running.Go(func() {
			if err := one.Run(ctx, io.Discard); err != nil && ctx.Err() == nil {
				t.Errorf("machine %s: %v", one.MAC, err)
			}
		})
	}
	patience.Until(t, "all nodes wait", func() bool {
		waiting := 0
		for node, err := range r.Client().Nodes(t.Context(), api.Filter{Phases: []api.Phase{api.Idle}}) {
			if err == nil && !node.Status.Seen.IsZero() {
				waiting++
			}
		}
		return waiting == n
	})
}

// jobs are all jobs, once they have ended.
func (r *rack) jobs(count int) []api.Job {
	r.Helper()
	var jobs []api.Job
	patience.Until(r.T, "all jobs have ended", func() bool {
		var err error
		jobs, err = r.Client().Jobs(r.Context(), api.JobFilter{Limit: 1000})
		return err == nil && len(jobs) == count && !slices.ContainsFunc(jobs, func(j api.Job) bool {
			return !j.State.Ended()
		})
	})
	return jobs
}

// starts is how often the payload of a job was started, as its machine knows.
func (r *rack) starts(job api.Job) int {
	text, _ := os.ReadFile(filepath.Join(r.machines, mac.Hyphens(job.MAC)+".ran")) // missing: never
	return strings.Count(string(text), job.ID)
}

// arrived reports whether all output of a job is at the boot server.
func (r *rack) arrived(job api.Job, payload double.Payload) bool {
	for stream, size := range map[string]int{"out": payload.Output, "err": payload.Errors} {
		names, err := filepath.Glob(filepath.Join(r.upload, "jobs", job.ID, stream+".??????"))
		if err != nil {
			r.Fatal(err)
		}
		var text []byte
		for _, name := range names {
			part, err := os.ReadFile(name)
			if err != nil {
				r.Fatal(err)
			}
			text = append(text, part...)
		}
		if !bytes.Equal(text, double.Printed(job.ID, stream, size)) {
			return false
		}
	}
	return true
}

// Power is cut while machines fetch, run and send the end of their payload, sledd is stopped and away, and operators
// cancel, each at moments that follow from SLED_SEED.
func TestAPayloadIsStartedAtMostOnce(t *testing.T) {
	once(t, func(payload double.Payload, change func(i int, settings *double.Settings)) *rack {
		return boot(t, jobsOnce, payload, change)
	}, 0)
}

const jobsOnce = 24

// once judges jobs during three outages, of which the second is at least so long.
func once(t *testing.T, boot func(payload double.Payload, change func(i int, settings *double.Settings)) *rack,
	away time.Duration) {
	t.Helper()
	seed := uint64(number(t, "SLED_SEED", 1))
	chance := rand.New(rand.NewPCG(seed, 0))
	payload := double.Payload{Seconds: 0.4, Exit: 7, Output: 300_000, Errors: 1000}
	r := boot(payload, func(i int, settings *double.Settings) {
		settings.Cut = double.Cut{While: []string{"fetch", "run", "end", "none"}[i%4], Part: chance.Float64(), Times: 1}
		settings.Payload.Forges = i%12 == 11
	})
	var ids []string
	for range jobsOnce {
		job, err := r.Client().CreateJob(t.Context(), api.JobSpec{Labels: map[string]string{"rack": "a"}, Image: "hpl"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, job.ID)
	}
	for _, least := range []time.Duration{0, away, 0} {
		<-time.After(time.Duration(chance.IntN(300)) * time.Millisecond)
		for range 2 {
			_, _ = r.Client().CancelJob(t.Context(), ids[chance.IntN(jobsOnce)]) // it may have ended
		}
		r.Stop()
		<-time.After(least + time.Duration(chance.IntN(300))*time.Millisecond)
		r.Resume()
	}
	ended := map[api.JobState]int{}
	for _, job := range r.jobs(jobsOnce) {
		ended[job.State]++
		r.judge(job, payload)
	}
	t.Logf("seed %d: %v", seed, ended)
	if ended[api.JobDone] == 0 || ended[api.JobLost] == 0 {
		t.Errorf("seed %d: %v", seed, ended)
	}
}

// judge compares what is stored of a job with what its machine did.
func (r *rack) judge(job api.Job, payload double.Payload) {
	r.Helper()
	starts, what := r.starts(job), fmt.Sprintf("job %s of %s, %s: %s", job.ID, job.Node, job.State, job.Reason)
	switch {
	case starts > 1:
		r.Errorf("%s: started %d times", what, starts)
	case job.State == api.JobFailed, starts == 0 && job.State != api.JobCancelled && job.State != api.JobLost:
		r.Errorf("%s: started %d times", what, starts)
	case job.State == api.JobDone && (!r.arrived(job, payload) || job.Exit == nil || *job.Exit != payload.Exit):
		r.Errorf("%s: output or exit code are others", what)
	}
}

// bytes is what is stored.
func (r *rack) bytes() (size int) {
	r.Helper()
	all, err := r.store.Read(r.Context(), store.Prefix("/"))
	if err != nil {
		r.Fatal(err)
	}
	for _, kv := range all.Results[0] {
		size += len(kv.Key) + len(kv.Value)
	}
	return size
}

// Nothing that a payload prints is in the store.
func TestManyJobs(t *testing.T) {
	const most = 20 << 10 // bytes that the store grows by a job
	count := number(t, "SLED_DOUBLES", 20)
	payload := double.Payload{Seconds: 0.1, Output: 1 << 20, Errors: 1 << 10}
	r := boot(t, count, payload, func(int, *double.Settings) {})
	before, begin := r.bytes(), time.Now()
	for range count {
		if _, err := r.Client().CreateJob(t.Context(), api.JobSpec{Labels: map[string]string{"rack": "a"},
			Image: "hpl"}); err != nil {
			t.Fatal(err)
		}
	}
	jobs := r.jobs(count)
	last := begin
	for _, job := range jobs {
		if job.State != api.JobDone || !r.arrived(job, payload) || r.starts(job) != 1 {
			t.Errorf("%+v", job)
		}
		last = slices.MaxFunc([]time.Time{last, job.Started}, time.Time.Compare)
	}
	if grown := (r.bytes() - before) / count; grown > most {
		t.Errorf("the store has grown by %d bytes per job", grown)
	} else {
		t.Logf("%d jobs started within %v; %d bytes in the store per job", count, last.Sub(begin), grown)
	}
}
