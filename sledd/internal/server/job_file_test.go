// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestFilesAreOfTheNodeThatRunsTheJob(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Declare(2)
	job := as[api.Job](t, s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "hpl"}))
	one, other := s.Machine(1), s.Machine(2)
	path := "/node/v1/jobs/" + job.ID + "/"
	for _, c := range []struct {
		file, token string
		want        int
	}{
		{"out.000001", "", http.StatusUnauthorized},
		{"out.000001", adminToken, http.StatusUnauthorized},
		{"out.000001", other.Token, http.StatusForbidden},
		{"out.000001", one.Token, http.StatusForbidden}, // it waits for its image
		{"out.1", one.Token, http.StatusBadRequest},
		{"artefacts.tar", one.Token, http.StatusBadRequest},
	} {
		if a := s.Ask("GET", path+c.file, c.token, ""); a.Status != c.want {
			t.Errorf("%s with %.10q: %d, want %d: %s", c.file, c.token, a.Status, c.want, a.Body)
		}
	}
	s.admin(http.StatusNoContent, "GET", "/v1/jobs/"+job.ID+"/files/out.000001", nil)
	s.admin(http.StatusUnprocessableEntity, "GET", "/v1/jobs/"+job.ID+"/files/passwd", nil)
}
