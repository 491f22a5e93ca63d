// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// An operator of role read cannot guess user data: neither offline, from what sledd answers and what is in its store,
// nor by dry runs that would show whether it is the same.
func TestUserDataIsNotGuessedByRoleRead(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	spec := api.BindingSpec{Node: "n1", Image: "d12", UserData: userData}
	bound := s.Bind(spec)
	if bound.UserDataSHA256 != s.HashOf(userData) || !strings.HasPrefix(bound.UserDataSHA256, "hmac-sha256:") {
		t.Errorf("user data has hash %q", bound.UserDataSHA256)
	}
	plain := sha256.Sum256([]byte(userData))
	if text := dump(t, shared); strings.Contains(text, hex.EncodeToString(plain[:])) {
		t.Error("the store has the plain hash")
	}
	eve := s.admin(200, "PUT", "/v1/operators/eve", api.Operator{Name: "eve", Role: api.Read})
	reader := as[api.Operator](t, eve).Token
	key := as[api.Store](t, s.admin(200, "GET", "/v1/store", nil)).HashKey
	for _, path := range []string{"/v1/store", "/v1/bindings/n1", "/v1/bindings", "/v1/nodes/n1", "/v1/nodes",
		"/v1/nodes/n1/events", "/openapi.json", "/v1/summary?by=image", "/v1/nodes/n1/admission"} {
		if a := s.Ask("GET", path, reader, ""); len(key) != 64 || strings.Contains(a.Body, key) ||
			strings.Contains(a.Body, hex.EncodeToString(plain[:])) {
			t.Errorf("%s: %d: the key or the plain hash is in the answer", path, a.Status)
		}
	}
	for _, r := range [][3]string{{"PUT", "/v1/bindings/n1?dry_run=true", `{"node":"n1","image":"d12","user_data":"#!x"}`},
		{"POST", "/v1/bindings?dry_run=true", `{"items":[{"node":"n1","image":"d12","user_data":"#!x"}]}`}} {
		if a := s.Ask(r[0], r[1], reader, r[2]); a.Status != 403 || !strings.Contains(a.Body, "needs role operate") {
			t.Errorf("%s %s: %d: %s", r[0], r[1], a.Status, a.Body)
		}
		without := strings.Replace(r[2], `,"user_data":"#!x"`, "", 1)
		if a := s.Ask(r[0], r[1], reader, without); a.Status != 200 {
			t.Errorf("%s %s without user data: %d: %s", r[0], r[1], a.Status, a.Body)
		}
	}
}
