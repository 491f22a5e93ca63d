// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// hostile serves one vector wherever the API has text of nodes. It stands for a sledd that checks nothing.
func hostile(t *testing.T, texts []string) string {
	t.Helper()
	node := sleddtest.HostileNode(t, "52:54:00:77:00:01", "n1", texts)
	rollout := sleddtest.HostileRollout(t, texts)
	list := func(items ...string) string { return `{"items":[` + strings.Join(items, ",") + `],"next":""}` }
	quote := func(text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted)
	}
	var events, models []string
	for _, text := range texts {
		events = append(events, `{"id":1,"time":"2026-11-21T12:00:00Z","kind":"end","verb":"write","boot_id":`+quote(text)+
			`,"detail":`+quote(text)+`}`)
		models = append(models, `{"vendor":`+quote(text)+`,"product":`+quote(text)+`,"last":"open"}`)
	}
	answers := map[string]string{"/v1/nodes": list(string(node)), "/v1/nodes/n1": string(node),
		"/v1/nodes/n1/events": list(events...), "/v1/kexec": list(models...), "/v1/rollouts": list(string(rollout)),
		"/v1/rollouts/reimage-1": string(rollout), "/v1/nodes/n1/log": strings.Join(texts, "\n"),
		"/v1/nodes/n1/console": strings.Join(texts, "\n")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := answers[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestHostileTextIsPrintedCleaned(t *testing.T) {
	lines := []string{"status", "status n1", "node list", "node get n1", "events n1", "log n1", "console n1",
		"kexec stats", "known-hosts",
		"rollout list", "rollout get reimage-1", "rollout report reimage-1"}
	ran := 0
	for name, texts := range sleddtest.HostileTexts(t) {
		server := hostile(t, texts)
		for _, line := range lines {
			for _, format := range []string{"table", "json", "yaml"} {
				got := sledctl(t, server, "", append(strings.Fields(line), "-o", format)...)
				if got.code != exitDone {
					t.Fatalf("%s: %s -o %s: %+v", name, line, format, got)
				}
				sleddtest.Printable(t, name+": "+line+" -o "+format, got.out+got.err, "\n\t")
				ran++
			}
		}
		got := sledctl(t, server, "", "watch", "--wait", "n1")
		sleddtest.Printable(t, name+": watch", got.out+got.err, "\n")
	}
	t.Logf("%d command lines", ran)
}
