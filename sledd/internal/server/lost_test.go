// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/server"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// lives has one node imaged, another one captured and a third one run a job, and returns what is recorded of them.
func lives(s *sledd) (recorded []string) {
	s.Register("d12")
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=4 verb=wipe", "progress step=1 verb=wipe bytes=1 total=2 rate=1")
	m.Say("log", "one line\n")
	if a := s.Ask("POST", "/node/v1/"+m.MAC+"/ticket", m.Token, ""); !strings.HasPrefix(a.Body, "sledt_") {
		s.Errorf("ticket: %d: %s", a.Status, a.Body)
	}
	m.Say("lastwords", "Kernel panic - not syncing: at all\n")
	install(m)
	m.Confirm()
	s.phase(1, api.Operational)
	s.Declare(2)
	s.Bind(api.BindingSpec{Node: "n2", Capture: "gold"})
	m = s.Machine(2)
	m.Poll(0)
	m.Report(captureBegin)
	s.upload(m, http.StatusNoContent, "?generation=1")
	const captured = "/captured?generation=1&upload=" + sleddtest.Upload
	if a := s.Ask("GET", "/node/v1/"+m.MAC+captured, m.Token, ""); a.Status != http.StatusNoContent {
		s.Errorf("captured: %d: %s", a.Status, a.Body)
	}
	m.Report(captureEnd)
	m.Report(rebootBegin, rebootEnd)
	s.phase(2, api.Captured)
	runs(s, 3)
	for i := range 3 {
		path := fmt.Sprintf("/v1/nodes/n%d/events", i+1)
		for _, event := range as[api.EventList](s.T, s.admin(http.StatusOK, "GET", path, nil)).Items {
			line := fmt.Sprintf("n%d %s generation %d step %d %s", i+1, event.Kind, event.Generation, event.Step, event.Verb)
			// Each hello is another claim, and a plan is issued again, as the next run.
			if event.Kind != "claim" && event.Kind != "plan" || !slices.Contains(recorded, line) {
				recorded = append(recorded, line)
			}
		}
	}
	return recorded
}

// runs has a node run a job that prints nothing.
func runs(s *sledd, i int) {
	s.admin(http.StatusOK, "PUT", "/v1/images/hpl", api.ImageSpec{Name: "hpl", Kind: api.RootImage, Bytes: 512,
		FileBytes: 1, Digest: "sha256:" + strings.Repeat("7", 64), URLs: []string{"http://10.77.0.1/images/hpl"},
		Container: &api.Container{Command: []string{"./xhpl"}}})
	s.Declare(i)
	m, name := s.Machine(i), fmt.Sprintf("n%d", i)
	m.Poll(0)
	job := as[api.Job](s.T, s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: name, Image: "hpl",
		Secrets: map[string]string{"password": "hunter2"}, Interrupt: true}))
	if plan := m.Poll(1); !strings.Contains(plan, "run job="+job.ID) {
		s.Fatal(plan)
	}
	m.Report("begin step=1 of=2 verb=fetch", "end step=1 verb=fetch code=0 seconds=1")
	folder := s.Ask("GET", "/node/v1/"+m.MAC+"/job?job="+job.ID, m.Token, "")
	if folder.Status != http.StatusOK || !strings.Contains(folder.Body, "hunter2") {
		s.Errorf("job: %d: %q", folder.Status, folder.Body)
	}
	m.Report("begin step=2 of=2 verb=run")
	m.Report("end step=2 verb=run code=0 seconds=2 exit=7 by=payload out=0 err=0 files=0")
	answer := s.admin(http.StatusOK, "GET", "/v1/jobs/"+job.ID, nil)
	if ended := as[api.Job](s.T, answer); ended.State != api.JobDone || ended.Exit == nil || *ended.Exit != 7 {
		s.Errorf("%+v", ended)
	}
	if strings.Contains(answer.Body, "hunter2") {
		s.Error("the answer holds a secret")
	}
}

// The first response to each request of a node is lost, after its commit. Nothing else is recorded than otherwise.
func TestEachRequestOfANodeMayBeRepeated(t *testing.T) {
	want := lives(fresh(t))
	s, lost := fresh(t), map[string]bool{}
	for _, pattern := range server.NodeRoutes() {
		lost[pattern] = false
	}
	mux := http.NewServeMux()
	for pattern := range lost {
		mux.HandleFunc(pattern, http.NotFound)
	}
	s.Lost = func(method, path string) {
		request, err := http.NewRequestWithContext(t.Context(), method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(request)
		lost[pattern] = true
	}
	if got := lives(s); !slices.Equal(got, want) {
		t.Errorf("recorded:\n%q\nwant:\n%q", got, want)
	}
	for pattern, is := range lost {
		if !is {
			t.Errorf("%s is not part of this test", pattern)
		}
	}
}
