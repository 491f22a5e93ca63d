// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// Every route that changes something leaves a record of who requested it, with what program and from where, whether it
// was refused or not. Each is requested by another operator: of refused requests an operator has one record.
func TestEveryChangeNamesItsOperator(t *testing.T) {
	s := fresh(t)
	text, err := os.ReadFile("../../../contract/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(text, &description); err != nil {
		t.Fatal(err)
	}
	changes := 0
	for path, methods := range description.Paths {
		for method := range methods {
			method = strings.ToUpper(method)
			if !strings.HasPrefix(path, "/v1/") || !slices.Contains([]string{"PUT", "POST", "PATCH", "DELETE"}, method) {
				continue
			}
			changes++
			name := fmt.Sprint("ci", changes)
			made := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/"+name, api.Operator{Name: name, Role: api.Admin}))
			target := placeholder.ReplaceAllString(path, "absent")
			s.AskBehind(method, target, made.Token, "{}", "X-Forwarded-For", "10.0.0.9", "User-Agent", "sledctl/1.2.3")
			records := as[api.AuditList](t, s.admin(200, "GET", "/v1/audit?operator="+name, nil)).Items
			if len(records) != 1 || records[0].Method != method || records[0].Path != target ||
				records[0].From != "10.0.0.9" || records[0].Via != "sledctl" {
				t.Errorf("%s %s: %+v", method, path, records)
			}
		}
	}
	if changes < 20 {
		t.Errorf("%d routes change something", changes)
	}
}

// changesThatSucceed are requests about one node, one after the other.
var changesThatSucceed = []struct{ method, path, body string }{
	{"PUT", "/v1/nodes/n1", `{"mac":"` + address(1) + `","name":"n1","disk":"serial:LAB-0001"}`},
	{"POST", "/v1/nodes/n1/expect", `{"by":"test","seconds":600}`},
	{"POST", "/v1/nodes/n1/expect", `{"by":"power","seconds":600,"revoke":true,"power":"boot"}`},
	{"PUT", "/v1/bindings/n1", `{"node":"n1","image":"d12"}`}, {"POST", "/v1/bindings/n1/reimage", ""},
	{"POST", "/v1/bindings", `{"items":[{"node":"n1","image":"d12","reimage":true}]}`},
	{"PUT", "/v1/nodes/n1/rescue", `{"authorized_keys":["` + sshkeys.Alice + ` alice"]}`},
	{"DELETE", "/v1/nodes/n1/rescue", ""}, {"POST", "/v1/nodes/n1/events", `{"kind":"power","detail":"cycle"}`},
	{"POST", "/v1/rollouts?kind=reimage", `{"nodes":["n1"],"desired":"image d12","again":true}`},
	{"PUT", "/v1/rollouts/reimage-1/runs", `{"items":[{"node":"n1","state":"running"}]}`},
	{"POST", "/v1/rollouts/reimage-1/abort", ""},
	{"POST", "/v1/nodes/n1/alarms/ack", `{"until":"2026-01-01T00:00:00Z"}`},
	{"POST", "/v1/nodes/n1/replace", `{"mac":"` + address(2) + `"}`},
	{"DELETE", "/v1/bindings/n1", ""}, {"PUT", "/v1/images/d13",
		`{"name":"d13","digest":"sha256:` + strings.Repeat("0", 64) +
			`","bytes":1024,"file_bytes":512,"urls":["http://i"]}`},
	{"DELETE", "/v1/images/d13", ""},
}

// Changes of a node that succeed: each event that they cause names the operator, the program and the address, and so
// does the record of the change.
func TestEachEventOfAChangeNamesItsOperator(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	made := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/ci", api.Operator{Name: "ci", Role: api.Admin}))
	seen, caused := int64(0), map[string]int{}
	for _, request := range changesThatSucceed {
		answer := s.AskBehind(request.method, request.path, made.Token, request.body, "X-Forwarded-For", "10.0.0.9",
			"User-Agent", "sled.fleet/1.2.3")
		record := as[api.AuditList](t, s.admin(200, "GET", "/v1/audit?limit=1", nil)).Items[0]
		if answer.Status >= 300 || record.Status != answer.Status || record.Operator != "ci" ||
			record.From != "10.0.0.9" || record.Via != "ansible" || record.Path != request.path {
			t.Errorf("%s %s: %d %s: %+v", request.method, request.path, answer.Status, answer.Body, record)
		}
		events, err := s.Client().Events(t.Context(), "n1", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			if event.ID <= seen {
				continue
			}
			caused[event.Kind]++
			if event.Actor != "ci" || event.Via != "ansible" || event.From != "10.0.0.9" {
				t.Errorf("%s %s: event %+v", request.method, request.path, event)
			}
		}
		if len(events) > 0 {
			seen = max(seen, events[len(events)-1].ID)
		}
	}
	for _, kind := range []string{"declare", "bind", "unbind", "rescue", "replace"} {
		if caused[kind] == 0 {
			t.Errorf("no event %s: %v", kind, caused)
		}
	}
}
