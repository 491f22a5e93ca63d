// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// Node n1 is operational, n2 has a job, n3 is off, and no other is declared.
var refusedJobs = []struct {
	name string
	job  api.JobSpec
	want int
	says string
}{
	{"neither node nor labels", api.JobSpec{}, 422, "name a node, or the labels of one that waits"},
	{"both", api.JobSpec{Node: "n3", Labels: map[string]string{"rack": "a"}}, 422, "not both"},
	{"a node that is not declared", api.JobSpec{Node: "n9"}, 404, "n9"},
	{"a system that runs", api.JobSpec{Node: "n1"}, 409, "is operational with image d12"},
	{"a second job", api.JobSpec{Node: "n2"}, 409, "is taken by job"},
	{"labels of nodes that do not wait", api.JobSpec{Labels: map[string]string{"rack": "a"}}, 409,
		"none of the 3 nodes with these labels waits"},
	{"an image of a disk", api.JobSpec{Node: "n3", Image: "d12"}, 422, "jobs run images of kind root"},
	{"a name of an image that is none", api.JobSpec{Node: "n3", Image: "\x1b[2J"}, 422, "body.image"},
	{"a user by name", api.JobSpec{Node: "n3", User: "nobody"}, 422, "body.user"},
	{"a command that is too long", api.JobSpec{Node: "n3", Command: []string{strings.Repeat("x", 10_000)}}, 422,
		"have 10000 bytes, at most 8192 are allowed"},
	{"a NUL byte", api.JobSpec{Node: "n3", Command: []string{"a\x00b"}}, 422, "a word holds a NUL byte"},
	{"a variable without a name", api.JobSpec{Node: "n3", Environment: []string{"A=1", "=2"}}, 422,
		"body.environment[1]"},
	{"a relative artefact", api.JobSpec{Node: "n3", Artefacts: []string{"/out/../etc"}}, 422, "body.artefacts[0]"},
	{"an artefact with a line break", api.JobSpec{Node: "n3", Artefacts: []string{"/out\n/etc"}}, 422,
		"want an absolute path below /"},
	{"a secret that leads out of its folder", api.JobSpec{Node: "n3", Secrets: map[string]string{"../config.json": "x"}},
		422, "the name of a secret is that of its file"},
	{"secrets that are too large", api.JobSpec{Node: "n3", Secrets: map[string]string{"k": strings.Repeat("x", 5000)}},
		422, "the secrets have 5000 bytes, at most 4096 are allowed"},
	{"a timeout of ages", api.JobSpec{Node: "n3", Timeout: 1 << 30}, 422, "body.timeout"},
	{"another end", api.JobSpec{Node: "n3", After: "kexec"}, 422, "body.after"},
}

func TestRefusedJobs(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	for i := range 3 {
		s.Declare(i + 1)
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	install(m)
	m.Say("operational", "operational 1\ngeneration 1\nos id=debian version=12 kernel=6.1 machine_id="+
		strings.Repeat("1", 32)+" boot_id="+m.Boot+" uptime=8\n")
	s.phase(1, api.Operational)
	s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n2", Image: "hpl"})
	messages := map[string]string{}
	for _, c := range refusedJobs {
		if c.job.Image == "" {
			c.job.Image = "hpl"
		}
		body := s.admin(c.want, "POST", "/v1/jobs", c.job).Body
		if !strings.Contains(body, c.says) {
			t.Errorf("%s: %s, want %q", c.name, body, c.says)
		}
		sleddtest.Printable(t, c.name, body, "\n")
		if other := messages[body]; other != "" {
			t.Errorf("%s is refused as %s: %s", c.name, other, body)
		}
		messages[body] = c.name
	}
	s.admin(200, "POST", "/v1/bindings?reimage=true", bulk(api.BindingSpec{Node: "n1", Image: "d12"}))
	if body := s.admin(409, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "hpl"}).Body; !strings.Contains(body,
		"a job ends that system, and its binding (generation 2) is carried out afterwards") {
		t.Error(body)
	}
	if got := as[api.JobList](t, s.admin(200, "GET", "/v1/jobs", nil)).Items; len(got) != 1 {
		t.Errorf("%d jobs", len(got))
	}
}

// Requests of a job with each token of a node, while node 1 runs the job.
func TestTokensOfJobs(t *testing.T) {
	s := fresh(t)
	s.RegisterRoot("hpl")
	s.Declare(1)
	s.Declare(2)
	job := as[api.Job](t, s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "hpl"}))
	m := s.Machine(1)
	replaced := m.Token
	m.Reboot()
	other := s.Machine(2).Token
	m.Poll(0)
	m.Report("begin step=1 of=2 verb=fetch", "end step=1 verb=fetch code=0 seconds=1", "begin step=2 of=2 verb=run")
	forged := m.Token[:len(m.Token)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(m.Token, "0")]
	node := "/node/v1/" + m.MAC
	for _, path := range []string{node + "/job?job=" + job.ID, node + "/job/signal?job=" + job.ID,
		"/node/v1/jobs/" + job.ID + "/out.000001"} {
		for _, c := range []struct {
			name, token string
			want        int
		}{
			{"none", "", 401}, {"an operator's", adminToken, 401}, {"wrong by one digit", forged, 401},
			{"of an earlier boot", replaced, 401}, {"another node's", other, 403},
		} {
			if a := s.Ask("GET", path, c.token, ""); a.Status != c.want {
				t.Errorf("%s: %s: %d, want %d: %s", path, c.name, a.Status, c.want, a.Body)
			}
		}
		if a := s.Ask("GET", path, m.Token, ""); a.Status != http.StatusOK && a.Status != http.StatusNoContent {
			t.Errorf("%s: the node's own: %d: %s", path, a.Status, a.Body)
		}
	}
	read := as[api.Operator](t, s.admin(http.StatusOK, "PUT", "/v1/operators/reader", api.Operator{Name: "reader",
		Role: api.Read})).Token
	for path, want := range map[string]int{"/v1/jobs/" + job.ID: 200, "/v1/jobs/" + job.ID + "/files/out.000001": 403} {
		if a := s.Ask("GET", path, read, ""); a.Status != want {
			t.Errorf("%s with role read: %d, want %d", path, a.Status, want)
		}
	}
}

// A secret of a job and the tokens of its node are in clear only in what the node itself is answered.
func TestASecretOfAJobIsNowhere(t *testing.T) {
	const secret = "a-seeded-secret-of-a-job-0123456789"
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := runWith(t, sleddtest.Options{UserDataKeys: keys})
	s.RegisterRoot("hpl")
	s.Declare(1)
	job := as[api.Job](t, s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "hpl",
		Secrets: map[string]string{"key": secret}}))
	m := s.Machine(1)
	texts := map[string]string{"plan": m.Poll(0)}
	look := func() {
		for _, path := range []string{"/v1/jobs", "/v1/jobs/" + job.ID, "/v1/nodes/n1", "/v1/nodes/n1/events", "/v1/audit"} {
			texts[path] += s.admin(http.StatusOK, "GET", path, nil).Body
		}
		stored, err := shared.Read(t.Context(), store.Prefix("/"))
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range stored.Results[0] {
			texts[kv.Key] += string(kv.Value)
		}
	}
	look()
	m.Report("begin step=1 of=2 verb=fetch", "end step=1 verb=fetch code=0 seconds=1", "begin step=2 of=2 verb=run")
	if a := s.Ask("GET", "/node/v1/"+m.MAC+"/job?job="+job.ID, m.Token, ""); !strings.Contains(a.Body, secret) {
		t.Fatalf("the node has not got it: %d", a.Status)
	}
	look()
	m.Report("end step=2 verb=run code=0 seconds=1 exit=0 by=payload out=0 err=0 files=0")
	look()
	for name, text := range texts {
		if strings.Contains(text, secret) || strings.Contains(text, m.Token) || strings.Contains(text, adminToken) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
