// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

const figure = `{"joules":150.5,"least":140,"most":160,"refresh":2,"source":"ipmi 10.30.0.101:623"}`

func TestEnergyIsStoredOnceAndByTheOperatorOfTheJob(t *testing.T) {
	s := fresh(t)
	tokens := map[string]string{}
	for name, role := range map[string]api.Role{"ci": api.Operate, "other": api.Operate, "guest": api.Read} {
		tokens[name] = as[api.Operator](t, s.admin(http.StatusOK, "PUT", "/v1/operators/"+name,
			api.Operator{Name: name, Role: role})).Token
	}
	s.Declare(1)
	made := s.Ask("POST", "/v1/jobs", tokens["ci"], `{"node":"n1","image":"hpl"}`)
	id := as[api.Job](t, made).ID
	put := func(who, path, body string, want int, words string) {
		t.Helper()
		if a := s.Ask("PUT", path, tokens[who], body); a.Status != want || !strings.Contains(a.Body, words) {
			t.Errorf("%s puts %s: %d, want %d and %q: %s", who, body, a.Status, want, words, a.Body)
		}
	}
	path := "/v1/jobs/" + id + "/energy"
	put("ci", "/v1/jobs/000000000000/energy", figure, http.StatusNotFound, "does not exist")
	put("ci", path, figure, http.StatusConflict, "after its end")
	if a := s.Ask("DELETE", "/v1/jobs/"+id, tokens["ci"], ""); a.Status != http.StatusOK {
		t.Fatal(a.Status, a.Body)
	}
	put("guest", path, figure, http.StatusForbidden, "role")
	put("other", path, figure, http.StatusForbidden, "requested by ci")
	for body, words := range map[string]string{
		`{"source":"pdu"}`: "want a reason",
		`{"source":"pdu","reason":"few","joules":5,"least":4,"most":6}`: "none with one",
		`{"source":"pdu","reason":"few","least":4}`:                     "or neither",
		`{"source":"pdu","reason":"few","least":6,"most":4}`:            "least first",
		`{"source":"pdu","joules":5}`:                                   "from least to most",
		`{"source":"pdu","joules":7,"least":4,"most":6}`:                "from least to most",
		`{"source":"pdu","joules":5,"least":-4,"most":6}`:               ">= 0",
		`{"source":"","reason":"few"}`:                                  "body.source",
	} {
		put("ci", path, body, http.StatusUnprocessableEntity, words)
	}
	put("ci", path, figure, http.StatusOK, "150.5")
	put("ci", path, figure, http.StatusOK, "150.5") // the first response was lost
	put("ci", path, strings.Replace(figure, "150.5", "151", 1), http.StatusConflict, "stored already")
	job := as[api.Job](t, s.admin(http.StatusOK, "GET", "/v1/jobs/"+id, nil))
	if job.Energy == nil || *job.Energy.Joules != 150.5 || job.Energy.Source.String() != "ipmi 10.30.0.101:623" {
		t.Errorf("%+v", job.Energy)
	}
}
