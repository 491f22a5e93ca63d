// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/admission"
)

func TestHelloIsAnsweredWithAClaim(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	text := vectors.Text(t, "admission/ok", "all_operands.hello")
	const path = "/node/v1/52-54-00-77-00-01/"
	a := s.Ask("POST", path+"hello", "", text)
	claim := a.Header.Get("Sled-Token")
	answer, err := admission.ParseAnswer(a.Body)
	if a.Status != http.StatusOK || err != nil || answer.Level != admission.Open || !strings.HasPrefix(claim, "sledc_") {
		t.Fatalf("%d, %q, %v, token %q", a.Status, a.Body, err, claim)
	}
	if again := s.Ask("POST", path+"hello", claim, text); again.Status != http.StatusOK ||
		again.Header.Get("Sled-Token") != "" || !strings.Contains(again.Body, answer.Code) {
		t.Errorf("sent again: %d, %q", again.Status, again.Body)
	}
	if facts := s.Ask("POST", path+"facts", claim, "facts 1\nboot b1\n"); facts.Status != http.StatusNoContent {
		t.Errorf("facts of the claim: %d, %s", facts.Status, facts.Body)
	}
	admitted := s.Ask("GET", path+"plan", claim, "")
	boot := admitted.Header.Get("Sled-Token")
	if admitted.Status != http.StatusNoContent || !strings.HasPrefix(boot, "sledb_") {
		t.Fatalf("%d, token %q: %s", admitted.Status, boot, admitted.Body)
	}
	plan := s.Ask("GET", path+"plan", boot, "")
	if plan.Status != http.StatusOK || !strings.Contains(plan.Body, "\nidle\n") {
		t.Errorf("%d, %q", plan.Status, plan.Body)
	}
}

func TestHelloIsRefused(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	token := s.Machine(1).Token
	for _, c := range vectors.Cases(t, "admission/bad", 50) {
		if !strings.HasSuffix(c.Name, ".hello") {
			continue
		}
		want := http.StatusBadRequest
		if len(c.Text) > admission.MaxText {
			want = http.StatusRequestEntityTooLarge
		}
		if a := s.Ask("POST", "/node/v1/52-54-00-77-00-01/hello", "", c.Text); a.Status != want {
			t.Errorf("%s: %d, want %d", c.Name, a.Status, want)
		}
	}
	const good = "hello 1\nboot id=b1 nic=52:54:00:77:00:01\n"
	for what, c := range map[string]struct {
		mac, token string
		want       int
	}{
		"an address of a group":  {"01-00-5e-00-00-01", "", http.StatusBadRequest},
		"an operator's token":    {"52-54-00-77-00-01", adminToken, http.StatusUnauthorized},
		"a boot token":           {"52-54-00-77-00-01", token, http.StatusForbidden},
		"a token of another MAC": {"52-54-00-77-00-02", token, http.StatusForbidden},
	} {
		if a := s.Ask("POST", "/node/v1/"+c.mac+"/hello", c.token, good); a.Status != c.want {
			t.Errorf("%s: %d, want %d: %s", what, a.Status, c.want, a.Body)
		}
	}
}
