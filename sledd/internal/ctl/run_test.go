// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

const jobID = "1kq7d2g3r9qa"

// jobServer stands for sledd and the web server in front of it: each read of the job is its next state.
type jobServer struct {
	sync.Mutex
	node      api.Node
	created   []api.JobSpec
	states    []func(*api.Job) // the last stays
	job       api.Job
	files     map[string]string
	cancelled int
	lost      int // requests for files that are not answered
}

func newJobServer(states ...func(*api.Job)) *jobServer {
	s := &jobServer{node: api.Node{NodeSpec: api.NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1"}, Declared: true},
		files: map[string]string{}, states: states}
	s.node.Status.Phase = api.Idle
	s.job = api.Job{ID: jobID, MAC: s.node.MAC, State: api.JobWaiting}
	return s
}

func (s *jobServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	var answer any
	switch r.Method + " " + strings.ReplaceAll(r.URL.Path, jobID, "ID") {
	case "GET /v1/nodes/52:54:00:77:00:01", "GET /v1/nodes/n1":
		answer = s.node
	case "GET /v1/images/hpl":
		answer = api.Image{ImageSpec: api.ImageSpec{Name: "hpl", FileBytes: 79_000_000}}
	case "POST /v1/jobs":
		var spec api.JobSpec
		_ = json.NewDecoder(r.Body).Decode(&spec)
		s.job.JobSpec = spec
		s.job.Node, s.job.Secrets = "n1", nil
		if r.URL.Query().Get("dry_run") == "" {
			s.created = append(s.created, spec)
		}
		answer = s.job
	case "GET /v1/jobs":
		answer = api.JobList{Items: []api.Job{s.job}}
	case "GET /v1/jobs/ID":
		if len(s.states) > 0 {
			s.states[0](&s.job)
			if len(s.states) > 1 || s.cancelled == 0 {
				s.states = s.states[1:]
			}
		}
		answer = s.job
	case "DELETE /v1/jobs/ID":
		s.cancelled++
		answer = s.job
	default:
		s.file(w, path.Base(r.URL.Path))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *jobServer) file(w http.ResponseWriter, name string) {
	if s.lost > 0 {
		s.lost--
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half"))
		return
	}
	content, found := s.files[name]
	if !found {
		http.Error(w, "<html>", http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(content))
}

// has makes a state with the files of that time.
func (s *jobServer) has(state api.JobState, files map[string]string, change ...func(*api.Job)) func(*api.Job) {
	return func(j *api.Job) {
		j.State = state
		for name, content := range files {
			s.files[name] = content
		}
		if state != api.JobWaiting && state != api.JobPreparing {
			j.Prepared, j.Started = ctltest.Noon, ctltest.Noon.Add(1100*time.Millisecond)
		}
		for _, one := range change {
			one(j)
		}
	}
}

// exits is the end of a payload, with the size and the hash of all its output.
func (s *jobServer) exits(code int) func(*api.Job) {
	return func(j *api.Job) {
		all := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			all[name[:3]] += s.files[name]
		}
		sum := func(text string) *api.JobFile {
			hash := sha256.Sum256([]byte(text))
			return &api.JobFile{Bytes: int64(len(text)), SHA256: hex.EncodeToString(hash[:])}
		}
		j.Exit, j.EndedBy, j.Seconds, j.Output, j.Errors = &code, "payload", 698.9, sum(all["out"]), sum(all["err"])
	}
}

// sledctl runs a command line against the server; its interrupts have come already.
func (s *jobServer) sledctl(t *testing.T, interrupts int, args ...string) ran {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	signals := make(chan os.Signal, interrupts)
	for range interrupts {
		signals <- os.Interrupt
	}
	var out, errs ctltest.Buffer
	environment := map[string]string{"SLED_SERVER": server.URL, "SLED_TOKEN": token}
	code := Run(t.Context(), args, System{
		Printer: show.Printer{Out: &out, Err: &errs, Now: func() time.Time { return ctltest.Noon },
			Screen: show.Screen{Size: func() (int, int) { return 80, 24 }}},
		In: strings.NewReader(""), Getenv: func(name string) string { return environment[name] }, Signals: signals})
	return ran{code, out.String(), errs.String()}
}

// Bytes that are no text, with the end of one line in the next part.
const binary = "HPL\x00\xff\x1b[31m 12800\r\nno line feed"

func TestRunPassesOutputAndExitCode(t *testing.T) {
	s := newJobServer()
	s.states = []func(*api.Job){
		s.has(api.JobWaiting, nil),
		s.has(api.JobPreparing, nil),
		s.has(api.JobRunning, map[string]string{"out.000001": binary}),
		s.has(api.JobRunning, map[string]string{"out.000002": "\n", "err.000001": "warning\n"}),
		s.has(api.JobDone, map[string]string{"out.000003": "end"}, func(j *api.Job) { s.exits(7)(j) }),
	}
	got := s.sledctl(t, 0, "run", "n1", "hpl", "-e", "A=1", "--artefact", "/out", "--", "./xhpl", "-n", "12800")
	if got.code != 7 || got.out != binary+"\nend" {
		t.Errorf("exit %d, output %q", got.code, got.out)
	}
	const said = "n1  job 1kq7d2g3r9qa waits for the node\n" +
		"n1  job 1kq7d2g3r9qa: the node fetches image hpl\n" +
		"n1  image hpl 79.00MB  1.1 s  job 1kq7d2g3r9qa runs\nwarning\n" +
		"job 1kq7d2g3r9qa: exit 7 after 698.9 s; n1 continues as before\n"
	if got.err != said {
		t.Errorf("standard error:\n%swant:\n%s", got.err, said)
	}
	if spec := s.created[0]; spec.Node != "n1" || !slices.Equal(spec.Command, []string{"./xhpl", "-n", "12800"}) ||
		!slices.Equal(spec.Environment, []string{"A=1"}) || spec.Timeout != 3600 || spec.Grace != 10 {
		t.Errorf("requested: %+v", spec)
	}
}

func TestExitCodesOfRun(t *testing.T) {
	end := func(by string, signal int) func(*api.Job) {
		return func(j *api.Job) { j.EndedBy, j.Signal, j.Reason = by, signal, api.Clean("because") }
	}
	for _, c := range []struct {
		state api.JobState
		end   func(*api.Job)
		code  int
		said  string
	}{
		{api.JobFailed, end("timeout", 15), exitTimeout, "signal 15, ended by timeout: because"},
		{api.JobFailed, end("sled", 0), exitSled, "failed, ended by sled: because"},
		{api.JobFailed, func(j *api.Job) { end("sled", 0)(j); j.Exit = new(127) }, 127, "exit 127, ended by sled: because"},
		{api.JobFailed, end("memory", 9), 137, "signal 9, ended by memory: because"},
		{api.JobLost, end("node", 0), exitSled, "lost"},
		{api.JobCancelled, end("cancel", 15), exitInterrupted, "ended by cancel"},
		{api.JobDone, end("payload", 11), 139, "signal 11: because"},
	} {
		s := newJobServer()
		s.states = []func(*api.Job){s.has(c.state, nil, c.end)}
		if got := s.sledctl(t, 0, "run", "n1", "hpl"); got.code != c.code || !strings.Contains(got.err, c.said) {
			t.Errorf("%s: exit %d, want %d; said %s", c.said, got.code, c.code, got.err)
		}
	}
}

func TestTheEnergyOfAJobIsShown(t *testing.T) {
	s := newJobServer()
	joules, least, most := 151230.0, 148110.0, 155020.0
	s.states = []func(*api.Job){s.has(api.JobDone, nil, s.exits(0), func(j *api.Job) {
		j.Energy = &api.Energy{Joules: &joules, Least: &least, Most: &most, Refresh: 2, Source: api.Clean("redfish n1-bmc")}
	})}
	shown := s.sledctl(t, 0, "job", "get", jobID)
	if said := s.sledctl(t, 0, "run", "n1", "hpl").err; !strings.Contains(strings.Join(strings.Fields(said), " "),
		"exit 0 after 698.9 s; 151.2 kJ (148.1 kJ to 155.0 kJ, the meter refreshes every 2.0 s); n1 continues") {
		t.Error(said)
	}
	if !strings.Contains(shown.out, "151.2 kJ (148.1 kJ") || !strings.Contains(shown.out, "redfish n1-bmc") {
		t.Error(shown.out)
	}
}

func TestOutputThatIsNotWholeIsNoSuccess(t *testing.T) {
	s := newJobServer()
	s.states = []func(*api.Job){
		s.has(api.JobRunning, map[string]string{"out.000001": "a"}),
		s.has(api.JobDone, nil, func(j *api.Job) { s.exits(0)(j); j.Output.Bytes = 2 }),
	}
	if got := s.sledctl(t, 0, "run", "n1", "hpl"); got.code != exitSled ||
		!strings.Contains(strings.Join(strings.Fields(got.err), " "), "wrote 2 bytes to standard output, and 1 byte") {
		t.Errorf("%+v", got)
	}
}

func TestAPartIsWrittenOnceThoughItsAnswerWasCut(t *testing.T) {
	s := newJobServer()
	s.lost = 2
	s.states = []func(*api.Job){
		s.has(api.JobRunning, map[string]string{"out.000001": "whole"}), func(*api.Job) {},
		s.has(api.JobDone, nil, func(j *api.Job) { s.exits(0)(j) }), func(*api.Job) {}, func(*api.Job) {},
	}
	if got := s.sledctl(t, 0, "run", "n1", "hpl"); got.code != exitDone || got.out != "whole" ||
		strings.Count(got.err, "cannot be reached") != 1 {
		t.Errorf("%+v", got)
	}
}

func TestInterruptsCancelTheJob(t *testing.T) {
	for interrupts := 1; interrupts <= 2; interrupts++ {
		s := newJobServer()
		s.states = []func(*api.Job){s.has(api.JobRunning, map[string]string{"out.000001": "a"}), func(j *api.Job) {
			if s.cancelled == interrupts {
				s.has(api.JobCancelled, map[string]string{"out.000002": "TERM seen"}, func(j *api.Job) {
					s.exits(0)(j)
					j.EndedBy = "cancel"
				})(j)
			}
		}}
		s.states = append(s.states, s.states[1], s.states[1])
		got := s.sledctl(t, interrupts, "run", "n1", "hpl")
		if got.code != exitInterrupted || got.out != "aTERM seen" || s.cancelled != interrupts ||
			!strings.Contains(got.err, "gets SIGTERM") {
			t.Errorf("%d interrupts: %+v, cancelled %d times", interrupts, got, s.cancelled)
		}
	}
}

func TestRunAsksBeforeItInterrupts(t *testing.T) {
	s := newJobServer()
	s.node.Status.Phase, s.node.Status.Image = api.Operational, "debian-12-v1"
	if got := s.sledctl(t, 0, "run", "n1", "hpl", "--interrupt", "--dry-run"); got.code != exitDone ||
		!strings.Contains(got.out, "its system (debian-12-v1) ends") || len(s.created) != 0 {
		t.Errorf("%+v", got)
	}
	if got := s.sledctl(t, 0, "run", "n1", "hpl", "--interrupt", "-d"); got.code != exitDone || got.out != jobID+"\n" ||
		!strings.Contains(got.err, "its system (debian-12-v1) ends now or with its next boot; it boots again after") {
		t.Errorf("%+v", got)
	}
	s.node.Binding = &api.Binding{BindingSpec: api.BindingSpec{Image: "debian-12-v2"}, Generation: 7}
	if got := s.sledctl(t, 0, "run", "n1", "hpl", "--interrupt", "--dry-run"); !strings.Contains(got.out,
		"(debian-12-v1 -> debian-12-v2) ends now or with its next boot; its binding (generation 7) is carried out") {
		t.Errorf("%+v", got)
	}
}

func TestUsageOfRun(t *testing.T) {
	for want, args := range map[string][]string{
		"expected NODE IMAGE":     {"run", "n1"},
		"expected KEY=VALUE":      {"run", "-l", "rack", "hpl"},
		"expected NAME=FILE":      {"run", "n1", "hpl", "--secret", "x"},
		"are at least 1s":         {"run", "n1", "hpl", "--timeout", "1ms"},
		"unknown flag: --nothing": {"run", "n1", "hpl", "--nothing"},
	} {
		if got := newJobServer().sledctl(t, 0, args...); got.code != exitSled || !strings.Contains(got.err, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestJobCommands(t *testing.T) {
	s := newJobServer()
	tar := sha256.Sum256([]byte("a tar"))
	s.states = []func(*api.Job){}
	s.has(api.JobDone, map[string]string{"out.000001": "one", "out.000002": "two", "err.000001": "err"},
		func(j *api.Job) {
			s.exits(3)(j)
			j.Image, j.Node, j.Command = "hpl", "n1", []string{"sh", "-c", "\x1b[2Jhidden"}
			j.Files = &api.JobFile{Bytes: 5, SHA256: hex.EncodeToString(tar[:])}
		})(&s.job)
	if got := s.sledctl(t, 0, "job", "logs", jobID); got != (ran{exitDone, "onetwo", "err"}) {
		t.Errorf("%+v", got)
	}
	if got := s.sledctl(t, 0, "job", "logs", "-f", jobID); got != (ran{3, "onetwo", "err"}) {
		t.Errorf("%+v", got)
	}
	if got := s.sledctl(t, 0, "job", "get", jobID); got.code != exitDone || strings.Contains(got.out, "\x1b") ||
		!strings.Contains(got.out, "exit              3") {
		t.Errorf("%+v", got)
	}
	if got := s.sledctl(t, 0, "job", "files", jobID); got.code != exitFailed ||
		!strings.Contains(got.err, "were removed") {
		t.Errorf("%+v", got)
	}
	for content, code := range map[string]int{"a tar": exitDone, "a tap": exitForged} {
		s.files["files.000001"] = content
		if got := s.sledctl(t, 0, "job", "files", jobID); got.code != code || got.out != content {
			t.Errorf("%+v", got)
		}
	}
	if got := s.sledctl(t, 0, "job", "cancel", jobID); got.code != exitDone || s.cancelled != 1 {
		t.Errorf("%+v", got)
	}
}
