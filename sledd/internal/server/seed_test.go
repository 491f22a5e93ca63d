// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// seeded is a node whose plan has an image, with the seed as it was answered first.
func seeded(t *testing.T) (*sledd, *sleddtest.Machine, string) {
	t.Helper()
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", AuthorizedKeys: []string{"ssh-ed25519 AAAA"}})
	m := s.Machine(1)
	m.Poll(0)
	first := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, "")
	if first.Status != http.StatusOK {
		t.Fatalf("seed: %d: %s", first.Status, first.Body)
	}
	return s, m, first.Body
}

func TestSeedWhoseAnswerWasLostIsGivenAgain(t *testing.T) {
	s, m, first := seeded(t)
	m.Seed()
	lost := m.Installed
	s.later(time.Minute)
	s.Stop()
	s.Resume() // another sledd on the same store answers the same
	if again := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); again.Status != http.StatusOK ||
		again.Body != first {
		t.Fatalf("the seed differs: %d", again.Status)
	}
	m.Seed()
	if m.Installed != lost {
		t.Fatal("the token for the installed system differs")
	}
	install(m)
	m.Say("operational", "operational 1\ngeneration 1\nos boot_id=x\n")
	s.phase(1, api.Operational)
	if after := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); after.Status != http.StatusUnauthorized {
		t.Errorf("operational, and the seed was given: %d", after.Status)
	}
}

func TestSeedIsNotGivenToALaterTokenOfTheSameBoot(t *testing.T) {
	s, m, _ := seeded(t)
	first := m.Token
	s.later(31 * time.Minute)
	m.Report("begin step=1 of=4 verb=wipe")
	if m.Token == first {
		t.Fatal("the token was not renewed")
	}
	if a := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); a.Status != http.StatusForbidden {
		t.Errorf("a renewed token got %d", a.Status)
	}
	if a := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", first, ""); a.Status != http.StatusOK {
		t.Errorf("the token that got the seed first got %d", a.Status)
	}
}

func TestSeedOfANewBootEndsTheTokenOfTheOneBefore(t *testing.T) {
	s, m, first := seeded(t)
	m.Seed()
	before := m.Installed
	m = s.Machine(1) // it boots again, with another token
	m.Poll(0)
	if second := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); second.Status != http.StatusOK ||
		second.Body == first {
		t.Fatalf("seed of the second boot: %d", second.Status)
	}
	a := s.Ask("POST", "/node/v1/"+m.MAC+"/operational", before, "operational 1\ngeneration 1\nos boot_id=x\n")
	if a.Status != http.StatusUnauthorized {
		t.Errorf("the installed system of the boot before got %d", a.Status)
	}
}
