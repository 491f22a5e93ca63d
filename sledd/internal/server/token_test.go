// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// tokenTests are requests of nodes, each with the name that TestTokensOfNodes has for its token.
var tokenTests = []struct {
	name, node, what, token string
	want                    int
}{
	{"no header", "1", "plan", "", 401},
	{"not a token", "1", "plan", "hello", 401},
	{"an operator's", "1", "plan", "admin", 401},
	{"wrong by one digit", "1", "plan", "forged", 401},
	{"wrong by one digit", "1", "report", "forged", 401},
	{"other node's", "1", "plan", "other", 403},
	{"other node's", "1", "report", "other", 403},
	{"other node's", "1", "seed", "other", 403},
	{"other node's", "1", "log", "other", 403},
	{"other node's", "1", "lastwords", "other", 403},
	{"other node's", "1", "facts", "other", 403},
	{"other node's", "1", "operational", "other", 403},
	{"replaced by a newer boot", "3", "plan", "replaced", 401},
	{"of the newest boot", "3", "plan", "live", 200},
	{"no header", "1", "ticket", "", 401},
	{"an operator's", "1", "ticket", "admin", 401},
	{"other node's", "1", "ticket", "other", 403},
	{"replaced by a newer boot", "3", "ticket", "replaced", 401},
	{"installed system's, ticket", "1", "ticket", "installed", 403},
	{"older generation, plan", "1", "plan", "older", 200},
	{"older generation, facts", "1", "facts", "older", 204},
	{"older generation, report", "1", "report", "older", 403},
	{"older generation, seed", "1", "seed", "older", 403},
	{"older generation, log", "1", "log", "older", 403},
	{"older generation, operational", "1", "operational", "installed", 403},
	{"installed system's, plan", "1", "plan", "installed", 403},
	{"installed system's, report", "1", "report", "installed", 403},
	{"boot token, operational", "1", "operational", "mine", 403},
	{"right, ticket", "1", "ticket", "mine", 200},
	{"right, report", "1", "report", "mine", 204},
	{"right, seed", "1", "seed", "mine", 200},
	{"right, seed again", "1", "seed", "mine", 200},
	{"right, log", "1", "log", "mine", 204},
	{"right, last words", "1", "lastwords", "mine", 204},
}

func TestTokensOfNodes(t *testing.T) {
	s := fresh(t)
	for i := range 3 {
		s.Declare(i + 1)
	}
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Seed()
	installed := m.Installed
	other := s.Machine(2).Token
	replaced := s.Machine(3).Token
	live := s.Machine(3).Token
	older := m.Token
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	m.Poll(0)
	mine := m.Token
	forged := mine[:len(mine)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(mine, "0")]
	tokens := map[string]string{"admin": adminToken, "forged": forged, "other": other, "replaced": replaced, "live": live,
		"older": older, "installed": installed, "mine": mine, "hello": "hello"}
	for _, c := range tokenTests {
		m.Run = s.Node(1).Status.Run.Number // an earlier case has got a plan
		report := m.Text("begin step=1 of=4 verb=wipe")
		body := map[string]string{"report": report, "facts": "facts 1\nboot b\n", "log": "x\n", "lastwords": "x\n",
			"operational": "operational 1\ngeneration 1\nos id=debian\n"}[c.what]
		method := "POST"
		if body == "" && c.what != "ticket" {
			method = "GET"
		}
		a := s.Ask(method, "/node/v1/52-54-00-77-00-0"+c.node+"/"+c.what, tokens[c.token], body)
		if a.Status != c.want {
			t.Errorf("%s: %s: got %d, want %d: %s", c.name, c.what, a.Status, c.want, a.Body)
		}
		if a.Status >= 400 && a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s: not a problem: %v", c.name, c.what, a.Header)
		}
		if challenge := a.Header.Get("WWW-Authenticate"); (a.Status == 401) != (challenge == "Bearer") {
			t.Errorf("%s: %s: %d with challenge %q", c.name, c.what, a.Status, challenge)
		}
	}
	if log := s.admin(200, "GET", "/v1/nodes/n1/log", nil).Body; log != "x\n" {
		t.Errorf("log %q", log)
	}
	s.later(2 * time.Hour)
	if a := s.Ask("GET", "/node/v1/52-54-00-77-00-03/plan", live, ""); a.Status != http.StatusUnauthorized {
		t.Errorf("expired: got %d", a.Status)
	}
}

func TestBootTokenIsRenewedPastHalfOfItsLife(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Seed()
	first := m.Token
	s.later(29 * time.Minute)
	m.Report("begin step=1 of=4 verb=wipe")
	if m.Token != first {
		t.Fatal("renewed before half of its life")
	}
	s.later(2 * time.Minute)
	m.Report("progress step=1 verb=wipe bytes=1")
	if m.Token == first {
		t.Fatal("not renewed past half of its life")
	}
	if a := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); a.Status != http.StatusForbidden {
		t.Errorf("the seed was given again for a renewed token: %d", a.Status)
	}
	s.later(45 * time.Minute) // the first one's life is over
	m.Report("end step=1 verb=wipe code=0 seconds=1")
	if m.Token == first {
		t.Error("no token")
	}
}

func TestLongPollRenews(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	m := s.Machine(1)
	m.Poll(0)
	first := m.Token
	s.later(40 * time.Minute)
	if m.Poll(0) != "" || m.Token == first {
		t.Error("an empty poll did not renew the token")
	}
}

func TestRolesOfOperators(t *testing.T) {
	s := fresh(t)
	tokens := map[api.Role]string{"": "nobody-knows-this-token"}
	for _, role := range []api.Role{api.Read, api.Operate, api.Admin} {
		a := s.admin(200, "PUT", "/v1/operators/"+string(role)+"er", api.Operator{Name: string(role) + "er", Role: role})
		tokens[role] = as[api.Operator](t, a).Token
	}
	node := `{"mac":"52:54:00:77:00:01","name":"n1"}`
	for _, c := range []struct {
		role         api.Role
		method, path string
		body         string
		want         int
	}{
		{"", "GET", "/v1/nodes", "", 401},
		{api.Read, "GET", "/v1/nodes", "", 200},
		{api.Read, "PUT", "/v1/nodes/n1", node, 403},
		{api.Read, "POST", "/v1/bindings", `{"items":[{"node":"n1"}]}`, 403},
		{api.Read, "GET", "/v1/operators", "", 403},
		{api.Operate, "PUT", "/v1/nodes/n1", node, 200},
		{api.Operate, "GET", "/v1/operators", "", 403},
		{api.Operate, "PUT", "/v1/operators/me", `{"name":"me","role":"admin"}`, 403},
		{api.Admin, "GET", "/v1/operators", "", 200},
		{api.Admin, "DELETE", "/v1/nodes/n1", "", 204},
	} {
		if a := s.Ask(c.method, c.path, tokens[c.role], c.body); a.Status != c.want {
			t.Errorf("%q: %s %s: got %d, want %d: %s", c.role, c.method, c.path, a.Status, c.want, a.Body)
		}
	}
	if a := s.Ask("GET", "/v1/nodes", "", ""); a.Status != 401 || a.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("no header: %+v", a)
	}
	if list := s.admin(200, "GET", "/v1/operators", nil).Body; strings.Contains(list, tokens[api.Read]) ||
		strings.Contains(list, "sha256") {
		t.Error("the list of operators holds secrets: ", list)
	}
	s.admin(204, "DELETE", "/v1/operators/reader", nil)
	if a := s.Ask("GET", "/v1/nodes", tokens[api.Read], ""); a.Status != 401 {
		t.Errorf("a deleted operator got %d", a.Status)
	}
}

func TestTokensAreStoredHashed(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Seed()
	dump := dump(t, shared)
	for _, secret := range []string{m.Token, m.Installed, adminToken,
		strings.TrimPrefix(m.Token, "sledb_"+mac.Plain(address(1))+"_1_")} {
		if secret == "" || strings.Contains(dump, secret) {
			t.Errorf("%q is in the store", secret)
		}
	}
}
