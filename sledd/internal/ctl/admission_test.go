// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// hello makes a claim to be node 1 and returns its code and token.
func (s session) hello(boot string) (code, token string) {
	s.Helper()
	text := "hello 1\nboot id=" + boot + " nic=52:54:00:77:00:01 serial=S1\n"
	a := s.Ask("POST", "/node/v1/52-54-00-77-00-01/hello", "", text)
	answer, err := admission.ParseAnswer(a.Body)
	if err != nil {
		s.Fatal(err, a.Body)
	}
	return answer.Code, a.Header.Get("Sled-Token")
}

// polls returns the status of a poll with a token, and the token that it returns.
func (s session) polls(token string) (status int, issued string) {
	s.Helper()
	a := s.Ask("GET", "/node/v1/52-54-00-77-00-01/plan", token, "")
	return a.Status, a.Header.Get("Sled-Token")
}

func TestClaims(t *testing.T) {
	s := begin(t)
	s.Declare(1)
	s.does(exitDone, "claims", "requires level    open\n  rival time        5m0s\n\nNODE")
	s.does(exitConflict, "revoke n1", "nobody is admitted as node n1")
	s.does(exitUsage, "admit n1 --unseen", "n1 has 0 claims that wait")
	code, token := s.hello("b1")
	s.does(exitDone, "claims", code)
	s.does(exitDone, "claims -o json", `"required": "open"`)
	s.does(exitUsage, "admit n1", "expected one of CODE, --unseen and --within")
	s.does(exitUsage, "admit n1 "+code+" --within 10m", "expected one of")
	s.does(exitNotFound, "admit n1 0000-0000", "node n1 has no claim 0000-0000")
	s.does(exitDone, "claims n1", "admitted          nobody")
	s.does(exitDone, "claims n1", code)
	s.does(exitDone, "admit n1 --within 10m", "n1: a boot is expected within 10m0s")
	s.does(exitDone, "claims n1", ", by operator")
	s.does(exitUsage, "admit n1 --reset", "--reset needs --within")
	s.does(exitDone, "admit n1 --unseen", "n1: its next request makes the machine the node")
	if status, issued := s.polls(token); status != 204 || !strings.HasPrefix(issued, "sledb_") {
		t.Fatalf("%d, %q", status, issued)
	}
	s.does(exitDone, "claims n1", "requires level    ")
	s.does(exitDone, "claims n1", "state             admitted")
	s.does(exitNotFound, "claims n9", "node n9 does not exist")
	s.does(exitNotFound, "refuse n1 "+code, "has no claim "+code+" that waits")
	s.does(exitDone, "admit n1 --within 10m --reset", "n1: a boot is expected within 10m0s")
	s.does(exitConflict, "revoke n1", "nobody is admitted as node n1") // the reset has ended it
	if status, issued := s.polls(token); status != 401 {
		t.Errorf("%d, %q", status, issued)
	}
	code, token = s.hello("b1")
	s.does(exitDone, "admit n1 "+code, "n1: its next request makes the machine the node")
	if status, issued := s.polls(token); status != 204 || !strings.HasPrefix(issued, "sledb_") {
		t.Fatalf("%d, %q", status, issued)
	}
	s.does(exitDone, "revoke n1", "n1: nobody is admitted")
	if status, _ := s.polls(token); status != 401 {
		t.Errorf("a revoked machine polls: %d", status)
	}
	s.does(exitDone, "ack n1", "n1: no alarms")
	code, token = s.hello("b2")
	s.does(exitDone, "admit n1 "+strings.ToLower(code), "n1: its next request")
	if status, _ := s.polls(token); status != 204 {
		t.Fatalf("%d", status)
	}
	code, _ = s.hello("b3")
	s.does(exitConflict, "admit n1 --unseen", "level proven needs evidence") // it does not fall
	s.does(exitDone, "refuse n1 "+code, "n1: the claim is refused")
}
