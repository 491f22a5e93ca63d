// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// Every route that changes something leaves a record of who requested it, with what program and from where, whether it
// was refused or not.
func TestEveryChangeNamesItsOperator(t *testing.T) {
	s := fresh(t)
	made := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/ci", api.Operator{Name: "ci", Role: api.Admin}))
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
			target := placeholder.ReplaceAllString(path, "absent")
			s.AskBehind(method, target, made.Token, "{}", "X-Forwarded-For", "10.0.0.9", "User-Agent", "sledctl/1.2.3")
			records := as[api.AuditList](t, s.admin(200, "GET", "/v1/audit?operator=ci&limit=1", nil)).Items
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
