// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// spoken is a machine that speaks from an address through the web server in front.
type spoken struct {
	*sledd
	from, path string
	token      string
}

// ask sends a request that must succeed, and takes the token of the answer.
func (m *spoken) ask(method, what, body string) string {
	m.Helper()
	a := m.AskBehind(method, m.path+what, m.token, body, "X-Forwarded-For", m.from)
	if a.Status >= 300 {
		m.Fatalf("%s %s: %d: %s", method, what, a.Status, a.Body)
	}
	if token := a.Header.Get("Sled-Token"); token != "" {
		m.token = token
	}
	return a.Body
}

// enter makes machine i the node.
func (s *sledd) enter(i int, from string) *spoken {
	s.Helper()
	m := &spoken{sledd: s, from: from, path: "/node/v1/" + strings.ReplaceAll(address(i), ":", "-") + "/"}
	m.ask("POST", "hello", "hello 1\nboot id=b1 nic="+address(i)+"\n")
	m.ask("GET", "plan", "")
	m.ask("POST", "facts", fmt.Sprintf("facts 1\nboot b1\ndisk name=vda serial=LAB-%04d bytes=1000\n", i))
	m.ask("GET", "plan", "")
	return m
}

// senders lists events of some kinds with who sent the request.
func (s *sledd) senders(node string, kinds ...string) string {
	s.Helper()
	events, err := s.Client().Events(s.Context(), node, 0)
	if err != nil {
		s.Fatal(err)
	}
	var text strings.Builder
	for _, e := range events {
		if slices.Contains(kinds, e.Kind) {
			fmt.Fprintf(&text, "%s from=%s actor=%s level=%s link=%s\n", e.Kind, e.From, e.Actor, e.Level, e.Link)
		}
	}
	return text.String()
}

func TestEventsNameTheirSender(t *testing.T) {
	s := runWith(t, sleddtest.Options{Links: neighbours{"10.0.0.1": address(1), "10.0.0.3": address(3)}})
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.enter(1, "10.0.0.1")
	m.ask("POST", "report", "report 1\ngeneration 1 run 1\nboot b1\nend step=2 verb=write code=0 seconds=1\n")
	seed := m.ask("GET", "seed", "")
	s.AskBehind("POST", m.path+"hello", "", "hello 1\nboot id=b3 nic="+address(1)+"\n", "X-Forwarded-For", "10.0.0.3")
	m.ask("POST", "report", "report 1\ngeneration 1 run 1\nboot b1\nbegin step=4 of=4 verb=kexec\n"+
		"end step=4 verb=kexec code=0 seconds=1\n")
	_, installed, _ := strings.Cut(seed, " token=")
	m.token, _, _ = strings.Cut(installed, "\n")
	m.ask("POST", "operational", "operational 1\ngeneration 1\nos id=debian boot_id=os-1\n")
	want := "bind from=127.0.0.1 actor=admin level= link=\n" +
		"claim from=10.0.0.1 actor= level= link=same\n" +
		"admit from=10.0.0.1 actor= level=open link=same\n" +
		"plan from=10.0.0.1 actor= level=open link=same\n" +
		"end from=10.0.0.1 actor= level=open link=same\n" +
		"seed from=10.0.0.1 actor= level=open link=same\n" +
		"link from=10.0.0.3 actor= level= link=other\n" +
		"claim from=10.0.0.3 actor= level= link=other\n" +
		"end from=10.0.0.1 actor= level=open link=same\n" +
		"leave from=10.0.0.1 actor= level=open link=same\n" +
		"operational from=10.0.0.1 actor= level=open link=\n"
	if got := s.senders("n1", "bind", "claim", "link", "admit", "plan", "seed", "end", "leave",
		"operational"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestUploadNamesItsSender(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1", Capture: "golden"})
	m := s.enter(1, "192.0.2.1")
	m.ask("GET", "upload?generation=1", "")
	if got := s.senders("n1", "upload"); got != "upload from=192.0.2.1 actor= level=open link=unknown\n" {
		t.Error(got)
	}
}
