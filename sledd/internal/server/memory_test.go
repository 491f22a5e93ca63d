// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

const (
	fetchAndStart = "fetch image=http"
	systemScript  = "/vmlinuz"
)

// payload registers a payload that confirms in a way, and binds n1 to it.
func (s *sledd) payload(confirm, console string) {
	s.Helper()
	spec := s.Register("d12")
	spec.Name, spec.Kind, spec.Digest = "p-"+confirm, api.KernelImage, sleddtest.DigestOf("p-"+confirm)
	spec.Payload = &api.Payload{Format: "multiboot", Arguments: "up={confirm}", Confirm: confirm, Console: console}
	s.admin(http.StatusOK, "PUT", "/v1/images/"+spec.Name, spec)
	s.Bind(api.BindingSpec{Node: "n1", Image: spec.Name, AllowUnsigned: true})
}

// leap reports the steps of a plan of a payload, and returns the path by which the payload confirms.
func leap(t *testing.T, m *sleddtest.Machine) string {
	t.Helper()
	plan := m.Poll(5)
	if !strings.Contains(plan, fetchAndStart) || !strings.Contains(plan, "\nstart as=kernel format=multiboot append=") {
		t.Fatalf("plan: %q", plan)
	}
	path := ""
	if found := regexp.MustCompile(`confirm=(\S+)`).FindStringSubmatch(plan); found != nil {
		text, _ := url.PathUnescape(found[1])
		path = text[strings.Index(text, "/up/"):]
	}
	m.Report("begin step=1 of=2 verb=fetch", "end step=1 verb=fetch code=0 seconds=1")
	m.Report("begin step=2 of=2 verb=start", "end step=2 verb=start code=0 seconds=1")
	return path
}

func (s *sledd) boots(want string) {
	s.Helper()
	if script := s.Ask("GET", "/boot/52-54-00-77-00-01.ipxe", "", ""); !strings.Contains(script.Body, want) {
		s.Fatalf("boot script: %s", script.Body)
	}
}

func TestPayloadConfirmsByHTTP(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.payload("http", "")
	m := s.Machine(1)
	path := leap(t, m)
	s.phase(1, api.Starting)
	s.boots(systemScript)
	up := func(want int, path string) {
		t.Helper()
		if got := s.Ask("GET", path, "", ""); got.Status != want {
			t.Fatalf("GET %s: %d, want %d: %s", path, got.Status, want, got.Body)
		}
	}
	foreign := strings.Replace(path, "525400770001", "525400770002", 1)
	malformed := []string{"/up/x", path + "0", path[:len(path)-1] + "g", foreign, "/up/" + m.Token}
	for _, one := range malformed {
		up(http.StatusNotFound, one)
	}
	token := strings.TrimPrefix(path, "/up/")
	for _, route := range []string{"plan", "report", "facts", "seed", "log", "operational", "hello", "job"} {
		for _, method := range []string{"GET", "POST"} {
			got := s.Ask(method, "/node/v1/"+m.MAC+"/"+route, token, "")
			if got.Status < http.StatusBadRequest {
				t.Errorf("%s %s with the token of a payload: %d", method, route, got.Status)
			}
		}
	}
	s.phase(1, api.Starting)
	up(http.StatusOK, path)
	s.phase(1, api.Operational)
	up(http.StatusNotFound, path)
	node := s.Node(1)
	if how := node.Status.Confirmed.String(); !strings.HasPrefix(how, "by http ") ||
		!strings.HasSuffix(how, " s after the jump") {
		t.Errorf("confirmed %q", how)
	}
	if !node.Status.Memory || !node.Binding.Satisfied || !node.Binding.Memory {
		t.Errorf("%+v", node)
	}
	s.boots(systemScript)
	m.Reboot()
	second := leap(t, m)
	up(http.StatusNotFound, path)
	up(http.StatusOK, second)
	s.admin(http.StatusNoContent, "DELETE", "/v1/bindings/n1", nil)
	s.boots(systemScript) // it waits there
}

// A payload as a job reports its end with an exit code, once.
func TestPayloadOfAJobEndsByHTTP(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.payload("http", "")
	s.admin(http.StatusNoContent, "DELETE", "/v1/bindings/n1", nil)
	job := as[api.Job](t, s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "p-http"}))
	path := leap(t, s.Machine(1))
	for query, want := range map[string]int{"?exit=256": 400, "?exit=-1": 400, "?exit=x": 400} {
		if got := s.Ask("GET", path+query, "", ""); got.Status != want || !strings.Contains(got.Body, "from 0 to 255") {
			t.Errorf("%s: %d: %s", query, got.Status, got.Body)
		}
	}
	for i, want := range []int{200, 404} {
		if got := s.Ask("GET", path+"?exit=9", "", ""); got.Status != want {
			t.Errorf("request %d: %d: %s", i, got.Status, got.Body)
		}
	}
	ended := as[api.Job](t, s.admin(http.StatusOK, "GET", "/v1/jobs/"+job.ID, nil))
	if ended.State != api.JobDone || ended.Exit == nil || *ended.Exit != 9 || !ended.HasMachine() {
		t.Errorf("%+v", ended)
	}
	if wait := s.Node(1).Wait; wait == nil || !strings.Contains(wait.For, "the payload of its job has the machine") {
		t.Errorf("it waits for %+v", wait)
	}
}

func TestPayloadConfirmsTooEarly(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.payload("http", "")
	m := s.Machine(1)
	plan := m.Poll(5)
	text, _ := url.PathUnescape(regexp.MustCompile(`confirm=(\S+)`).FindStringSubmatch(plan)[1])
	path := text[strings.Index(text, "/up/"):]
	if got := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); got.Status != http.StatusNotFound {
		t.Errorf("the seed of a payload: %d", got.Status)
	}
	m.Report("begin step=1 of=2 verb=fetch")
	if got := s.Ask("GET", path, "", ""); got.Status != http.StatusForbidden {
		t.Fatalf("before the end of fetch: %d %s", got.Status, got.Body)
	}
	m.Report("end step=1 verb=fetch code=0 seconds=1")
	m.Report("begin step=2 of=2 verb=start", "end step=2 verb=start code=0 seconds=1")
	if got := s.Ask("GET", path, "", ""); got.Status != http.StatusOK {
		t.Fatalf("after it: %d %s", got.Status, got.Body)
	}
}

func TestPayloadWithoutConfirmation(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.payload("none", "")
	m := s.Machine(1)
	if path := leap(t, m); path != "" {
		t.Errorf("a URL for a payload that does not confirm: %s", path)
	}
	s.phase(1, api.Unconfirmed)
	if !s.Node(1).Binding.Satisfied {
		t.Error("it is not satisfied")
	}
	s.boots(systemScript)
}

func TestRootFromMemory(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.RegisterRoot("root")
	s.Bind(api.BindingSpec{Node: "n1", Image: "root", AllowUnsigned: true})
	m := s.Machine(1)
	for range 2 {
		plan := m.Poll(5)
		if !strings.Contains(plan, " as=root\nconfigure hostname=n1\nstart as=root\n") {
			t.Fatalf("plan: %q", plan)
		}
		m.Report("begin step=1 of=3 verb=fetch", "end step=1 verb=fetch code=0 seconds=1")
		m.Seed()
		m.Report("begin step=2 of=3 verb=configure", "end step=2 verb=configure code=0 seconds=1")
		m.Report("begin step=3 of=3 verb=start", "end step=3 verb=start code=0 seconds=1")
		m.Confirm()
		s.phase(1, api.Operational)
		if status := s.Node(1).Status; status.Start != "memory" || status.OS.Start != "memory" {
			t.Errorf("started by %q, reported as %q", status.Start, status.OS.Start)
		}
		s.boots(systemScript)
		m.Reboot()
	}
	if alarms := s.Node(1).Alarms; len(alarms) > 0 {
		t.Errorf("a seed for each boot is no alarm: %+v", alarms)
	}
}
