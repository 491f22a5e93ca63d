// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// printable checks each text of a JSON value.
func printable(t *testing.T, what string, value any) {
	t.Helper()
	switch v := value.(type) {
	case string:
		sleddtest.Printable(t, what, v, "\n\t")
	case []any:
		for _, item := range v {
			printable(t, what, item)
		}
	case map[string]any:
		for key, item := range v {
			sleddtest.Printable(t, what, key, "")
			printable(t, what, item)
		}
	}
}

// answersArePrintable checks all that operators can read of a node, and all that is stored.
func (s *sledd) answersArePrintable(i int) {
	s.Helper()
	node := fmt.Sprintf("/v1/nodes/n%d", i)
	for _, path := range []string{"/v1/nodes", node, node + "/events", node + "/timeline", "/v1/kexec"} {
		var value any
		answer := s.admin(http.StatusOK, "GET", path, nil)
		if err := json.Unmarshal([]byte(answer.Body), &value); err != nil {
			s.Fatal(err)
		}
		printable(s.T, path, value)
	}
	for _, path := range []string{node + "/log", node + "/console"} {
		if answer := s.Ask("GET", path, adminToken, ""); answer.Status == http.StatusOK {
			sleddtest.Printable(s.T, path, answer.Body, "\n\t")
		}
	}
	stored, err := shared.Read(s.Context(), store.Prefix("/"))
	if err != nil {
		s.Fatal(err)
	}
	for _, kv := range stored.Results[0] {
		sleddtest.Printable(s.T, kv.Key, string(kv.Value), "\n\t")
	}
}

// anew is a vector as of another boot, so that it is not taken for one that is sent again.
func anew(text string, number int) string {
	return strings.Replace(text, "boot 0c2f5c1e", fmt.Sprintf("boot %08x", number), 1)
}

func TestHostileReports(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1"})
	m := s.Machine(1)
	if plan := m.Poll(0); !strings.Contains(plan, "generation 1 run 1\n") {
		t.Fatal(plan)
	}
	number := 0
	for kind, want := range map[string]int{"accepted": http.StatusNoContent, "refused": http.StatusBadRequest} {
		for _, c := range vectors.Cases(t, "report/hostile/"+kind, 30) {
			path, _, _ := strings.Cut(c.Text, " ")
			if path == "operational" {
				continue
			}
			number++
			s.later(10 * time.Second) // within the rate of facts
			answer := s.Ask("POST", "/node/v1/"+m.MAC+"/"+path, m.Token,
				anew(strings.Replace(c.Text, " run 7\n", " run 1\n", 1), number))
			if answer.Status != want {
				t.Errorf("%s: %d, want %d: %s", c.Name, answer.Status, want, answer.Body)
			}
			sleddtest.Printable(t, c.Name, answer.Body, "\n")
			s.answersArePrintable(1)
		}
	}
	dropped := 0
	for _, event := range as[api.EventList](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/events", nil)).Items {
		if event.Kind == "facts" && strings.HasPrefix(event.Detail.String(), "dropped: ") {
			dropped++
		}
	}
	if dropped < 6 {
		t.Errorf("%d events list dropped facts", dropped)
	}
}

func TestHostileSystems(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	i := 0
	for kind, want := range map[string]int{"accepted": http.StatusNoContent, "refused": http.StatusBadRequest} {
		for _, c := range vectors.Cases(t, "report/hostile/"+kind, 30) {
			if !strings.HasPrefix(c.Text, "operational ") {
				continue
			}
			i++
			s.Declare(i)
			s.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", i), Image: "d12"})
			m := s.Machine(i)
			m.Poll(0)
			install(m)
			answer := s.Ask("POST", "/node/v1/"+m.MAC+"/operational", m.Installed, c.Text)
			if answer.Status != want {
				t.Errorf("%s: %d, want %d: %s", c.Name, answer.Status, want, answer.Body)
			}
			if got := s.Node(i).Status.Phase == api.Operational; got != (want == http.StatusNoContent) {
				t.Errorf("%s: operational is %v", c.Name, got)
			}
			s.answersArePrintable(i)
		}
	}
	if i < 8 {
		t.Errorf("%d vectors", i)
	}
}

func TestHostileLogs(t *testing.T) {
	folder := t.TempDir()
	fresh(t)
	s := &sledd{T: t}
	s.Sledd = sleddtest.StartWith(t, sleddtest.Options{Store: shared, ConsoleDirectory: folder})
	s.Declare(1)
	m := s.Machine(1)
	for _, c := range vectors.Cases(t, "report/hostile/text", 7) {
		text := c.Text
		m.Say("log?step=1", text)
		s.answersArePrintable(1)
		m.Say("lastwords", text)
		if err := os.WriteFile(filepath.Join(folder, m.MAC+".log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.answersArePrintable(1)
		lost := api.NodeEvent{Kind: "fallback", Detail: "no answer: " + text, Log: text}
		if len(lost.Detail) <= 512 && !strings.Contains(c.Name, "utf8") {
			s.admin(http.StatusNoContent, "POST", "/v1/nodes/n1/events", lost)
			s.answersArePrintable(1)
		}
	}
}
