// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

// trail is the audit records, one in a line, without times.
func (s *sledd) trail(query string) string {
	s.Helper()
	var text strings.Builder
	for _, r := range as[api.AuditList](s.T, s.admin(200, "GET", "/v1/audit?"+query, nil)).Items {
		fmt.Fprintf(&text, "%s %s %s %s %s %s %d", r.Operator, r.Role, r.From, r.Method, r.Path, r.Node, r.Status)
		if r.Refused > 0 {
			fmt.Fprintf(&text, " refused %d", r.Refused)
		}
		text.WriteString("\n")
	}
	return text.String()
}

func TestChangesOfOperatorsAreRecorded(t *testing.T) {
	s := fresh(t)
	made := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/ci", api.Operator{Name: "ci", Role: api.Operate}))
	node := `{"mac":"52:54:00:77:00:01","name":"n1"}`
	s.AskBehind("PUT", "/v1/nodes/n1", made.Token, node, "X-Forwarded-For", "10.0.0.9")
	s.Ask("GET", "/v1/nodes/n1", made.Token, "")
	s.Ask("PUT", "/v1/nodes/n1", "wrong", node)
	s.Ask("PUT", "/v1/bindings/n1?reimage=true", made.Token, `{"node":"n1","image":"none"}`)
	s.Ask("PUT", "/v1/operators/me", made.Token, `{"name":"me","role":"admin"}`, "X-Forwarded-For", "10.0.0.8")
	s.Ask("DELETE", "/v1/nodes/n1", made.Token, "")
	s.Ask("DELETE", "/v1/nodes/n1", s.Token, "") // was deleted already
	want := "ci operate 127.0.0.1 PUT /v1/operators/me  403 refused 2\n" +
		"admin admin 127.0.0.1 DELETE /v1/nodes/n1 n1 404 refused 1\n" +
		"admin admin 127.0.0.1 PUT /v1/operators/ci  200\n" +
		"ci operate 10.0.0.9 PUT /v1/nodes/n1 n1 200\n" +
		"ci operate 127.0.0.1 DELETE /v1/nodes/n1 n1 204\n"
	if got := s.trail(""); sorted(got) != sorted(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := s.trail("operator=admin"); strings.Count(got, "\n") != 2 {
		t.Errorf("of admin:\n%s", got)
	}
	if got := s.trail("node=n1&limit=1"); got != "ci operate 127.0.0.1 DELETE /v1/nodes/n1 n1 204\n" {
		t.Errorf("newest of n1:\n%s", got)
	}
	if a := s.Ask("GET", "/v1/audit", made.Token, ""); a.Status != 403 {
		t.Errorf("an operator without role admin reads the trail: %d", a.Status)
	}
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A change is in the trail before it is answered, whatever other operators request meanwhile.
func TestRefusedRequestsRemoveNoRecord(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	token := map[api.Role]string{}
	for _, role := range []api.Role{api.Read, api.Operate} {
		made := as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/"+string(role),
			api.Operator{Name: string(role), Role: role}))
		token[role] = made.Token
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for i := range 100 {
				s.Ask("DELETE", fmt.Sprint("/v1/nodes/n", i), token[api.Read], "")       // 403
				s.Ask("DELETE", fmt.Sprint("/v1/nodes/none", i), token[api.Operate], "") // 404
				s.Ask("PUT", "/v1/nodes/n1", token[api.Operate], "{")                    // 400
				s.Ask("DELETE", "/v1/nodes/n1", "wrong", "")                             // 401
			}
		})
	}
	for i := range 20 {
		name := fmt.Sprint("ci", i)
		s.admin(200, "PUT", "/v1/operators/"+name, api.Operator{Name: name, Role: api.Read})
		if !strings.Contains(dump(t, shared), `"path":"/v1/operators/`+name+`"`) {
			t.Errorf("the change %d is answered, and not recorded", i)
		}
	}
	running.Wait()
	got := s.trail("limit=20000")
	if n := strings.Count(got, "PUT /v1/operators/ci"); n != 20 {
		t.Errorf("%d records of changes, want 20", n)
	}
	for role, count := range map[api.Role]int{api.Read: 400, api.Operate: 800} {
		// Two, if an hour began meanwhile.
		if n := strings.Count(got, fmt.Sprintf("%s %s ", role, role)); n == 1 && !strings.Contains(got,
			fmt.Sprint("refused ", count, "\n")) || n == 0 || n > 2 {
			t.Errorf("of role %s:\n%s", role, got)
		}
	}
}

// A change of which the record cannot be stored is answered 503, and recorded later.
func TestChangeThatIsNotRecordedYet(t *testing.T) {
	var commits atomic.Int32
	var runs atomic.Bool
	s := run(t, storetest.Hooked(func(call string) error {
		if runs.Load() && call == "commit" && commits.Add(1) == 2 { // the first is the change
			return &store.UnavailableError{Operation: "commit", Err: errors.New("down")}
		}
		return nil
	}))
	runs.Store(true)
	a := s.admin(503, "PUT", "/v1/operators/ci", api.Operator{Name: "ci", Role: api.Read})
	if !strings.Contains(a.Body, "this request was carried out, but its audit record is not stored yet") {
		t.Error(a.Body)
	}
	if got := s.trail(""); got != "admin admin 127.0.0.1 PUT /v1/operators/ci  200\n" {
		t.Error(got)
	}
}

func TestTokensOfOperatorsExpire(t *testing.T) {
	s := fresh(t)
	put := func(want int, operator api.Operator) api.Operator {
		a := s.admin(want, "PUT", "/v1/operators/"+operator.Name, operator)
		if want != 200 {
			return api.Operator{}
		}
		return as[api.Operator](t, a)
	}
	usual := put(200, api.Operator{Name: "usual", Role: api.Read, Owner: "alice"})
	if life := usual.Expires.Sub(s.now()); life < 89*24*time.Hour || life > 90*24*time.Hour || usual.Owner != "alice" {
		t.Errorf("%+v", usual)
	}
	short := put(200, api.Operator{Name: "short", Role: api.Read, Expires: s.now().Add(time.Hour)})
	put(422, api.Operator{Name: "late", Role: api.Read, Expires: s.now().Add(-time.Hour)})
	s.later(2 * time.Hour)
	if a := s.Ask("GET", "/v1/nodes", short.Token, ""); a.Status != 401 || !strings.Contains(a.Body, "short expired") {
		t.Errorf("%d: %s", a.Status, a.Body)
	}
	if a := s.Ask("GET", "/v1/nodes", usual.Token, ""); a.Status != 200 {
		t.Errorf("%d: %s", a.Status, a.Body)
	}
	s.admin(200, "GET", "/v1/nodes", nil)
	if err := s.Fleet.StoreUses(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, o := range as[api.OperatorList](t, s.admin(200, "GET", "/v1/operators", nil)).Items {
		used := o.LastUsed.Equal(s.now().UTC().Truncate(time.Hour))
		if want := o.Name != "short"; used != want || o.Expires.IsZero() != (o.Name == "admin") {
			t.Errorf("%+v", o)
		}
	}
}

func TestTokenWithoutExpiryStillWorks(t *testing.T) {
	s := fresh(t)
	s.later(1000 * 24 * time.Hour)
	s.admin(200, "GET", "/v1/operators/admin", nil) // as stored by earlier versions, too
}
