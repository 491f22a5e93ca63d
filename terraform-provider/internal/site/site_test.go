// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

// Each kind of error says what happened and what to do.
func TestExplain(t *testing.T) {
	if d := (&Site{}).explain("read node n1", nil); d != nil {
		t.Errorf("no error became %v", d)
	}
	for name, c := range map[string]struct {
		err           error
		summary, hint string
	}{
		"away": {&api.UnreachableError{Server: "https://x", Err: errors.New("refused")},
			"sledd is unreachable: could not bind n1", "The state is unchanged"},
		"503": {&api.Error{Status: 503, Detail: "no leader"}, "sledd is unreachable: could not bind n1",
			"boot server and its store run"},
		"412": {&api.Error{Status: 412}, "Changed since the plan was made: could not bind n1",
			"Nothing was written. Plan again"},
		"401": {&api.Error{Status: 401}, "sledd does not know the token: could not bind n1", "SLED_TOKEN_FILE"},
		"403": {&api.Error{Status: 403}, "The role of the token is too low: could not bind n1", "applies role operate"},
		"409": {&api.Error{Status: 409, Detail: "binding of n1 belongs to x"}, "sledd refused to bind n1",
			"Nothing was changed"},
		"422":     {&api.Error{Status: 422}, "sledd refused to bind n1", "Nothing was changed"},
		"garbage": {errors.New("not the JSON of this API version"), "Could not bind n1", "not the JSON"},
	} {
		d := (&Site{}).explain("bind n1", c.err)
		if len(d) != 1 || d[0].Severity() != diag.SeverityError || d[0].Summary() != c.summary ||
			!strings.Contains(d[0].Detail(), c.hint) ||
			!strings.Contains(d[0].Detail(), c.err.Error()) {
			t.Errorf("%s: %v", name, d)
		}
	}
}

// A certificate that is not trusted and a token that nobody set are named as such, not as a server that is away.
func TestWhatIsNotSet(t *testing.T) {
	untrusted := &api.UnreachableError{Server: "https://x",
		Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}
	d := (&Site{}).explain("read node n1", untrusted)
	if len(d) != 1 || !strings.Contains(d[0].Summary(), "not trusted") || !strings.Contains(d[0].Detail(), "set ca_file") {
		t.Errorf("certificate: %v", d)
	}
	d = (&Site{noToken: true}).explain("read node n1", &api.Error{Status: 401})
	if len(d) != 1 || !strings.Contains(d[0].Summary(), "No token is set") ||
		!strings.Contains(d[0].Detail(), "SLED_TOKEN_FILE") {
		t.Errorf("token: %v", d)
	}
}

// A cause that every resource meets is explained once in a run. Once removes its repetitions, and nothing else.
func TestOnce(t *testing.T) {
	s := &Site{}
	away := &api.UnreachableError{Server: "https://x", Err: errors.New("refused")}
	first := s.explain("read node n1", away)
	if DropRepeated(&first); len(first) != 1 || !strings.Contains(first[0].Detail(), "The state is unchanged") {
		t.Errorf("the first: %v", first)
	}
	for range 100 {
		again := s.explain("read node n2", away)
		if len(again) != 1 || again[0].Severity() != diag.SeverityError ||
			again[0].Detail() != away.Error() {
			t.Fatalf("an apply: %v", again)
		}
		if DropRepeated(&again); len(again) > 0 {
			t.Fatalf("a plan: %v", again)
		}
	}
	mixed := s.explain("bind n1", &api.Error{Status: 401, Detail: "unknown"})
	mixed.AddWarning("drift", "")
	mixed.Append(s.explain("bind n1", &api.Error{Status: 409, Detail: "n1 is bound"})...)
	mixed.Append(s.explain("bind n2", &api.Error{Status: 401, Detail: "unknown"})...)
	mixed.Append(s.explain("bind n2", &api.Error{Status: 409, Detail: "n2 is bound"})...)
	if DropRepeated(&mixed); len(mixed) != 4 || mixed.ErrorsCount() != 3 {
		t.Errorf("%v", mixed)
	}
}

// A server that does not name its fleet is refused. The key of the fleet is only for role operate.
func TestConnectNeedsTheNameOfTheFleet(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"hash_key":"k","alarms":[]}`))
	}))
	defer web.Close()
	_, diagnostics := Connect(t.Context(), Options{Access: api.Config{Server: web.URL, Token: "t"}})
	if !diagnostics.HasError() || !strings.Contains(diagnostics[0].Summary(), "did not name its fleet") {
		t.Errorf("%v", diagnostics)
	}
}

// server answers an empty list until it is told to break.
func server(t *testing.T) (s *Site, broken *atomic.Bool, calls *atomic.Int64) {
	broken, calls = &atomic.Bool{}, &atomic.Int64{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"fleet":"f","hash_key":"k","items":[],"next":"","alarms":[]}`))
	}))
	t.Cleanup(web.Close)
	s, diagnostics := Connect(t.Context(), Options{Access: api.Config{Server: web.URL, Token: "t"}})
	if diagnostics.HasError() {
		t.Fatal(diagnostics)
	}
	return s, broken, calls
}

func list(ctx context.Context, client *api.Client) error {
	_, err := api.Collect(client.Nodes(ctx, api.Filter{}))
	return err
}

// Once sledd is away nobody else waits for it: later calls give the first error and send nothing. A refusal does not
// count as away.
func TestBreaker(t *testing.T) {
	s, broken, calls := server(t)
	if s.Owner != "terraform" {
		t.Errorf("owner %q", s.Owner)
	}
	refuse := func(context.Context, *api.Client) error { return &api.Error{Status: 409} }
	if d := s.Call(t.Context(), "bind", refuse); !d.HasError() {
		t.Error("a refusal is no error")
	}
	if d := s.Call(t.Context(), "list", list); d.HasError() {
		t.Errorf("after a refusal: %v", d)
	}
	broken.Store(true)
	if d := s.Call(t.Context(), "list", list); !d.HasError() {
		t.Error("503 is no error")
	}
	broken.Store(false)
	before := calls.Load()
	for _, call := range []func(context.Context, string, func(context.Context,
		*api.Client) error) diag.Diagnostics{s.Call, s.CallBulk} {
		if d := call(t.Context(), "read node n2", list); !d.HasError() ||
			!strings.Contains(d[0].Summary(), "read node n2") {
			t.Errorf("after it was away: %v", d)
		}
	}
	if calls.Load() != before {
		t.Error("the breaker sent something")
	}
}

// What cannot work is told when the provider is configured.
func TestConnect(t *testing.T) {
	for name, options := range map[string]Options{
		"no server": {},
		"nobody":    {Access: api.Config{Server: "http://127.0.0.1:1", Token: "t"}},
	} {
		if _, d := Connect(t.Context(), options); !d.HasError() {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOf(t *testing.T) {
	var d diag.Diagnostics
	if Of(nil, &d) != nil || d.HasError() {
		t.Error("an unconfigured provider is no error")
	}
	s := &Site{}
	if Of(s, &d) != s || d.HasError() {
		t.Error("a site is not itself")
	}
	if Of("x", &d) != nil || !d.HasError() {
		t.Error("a string was taken for a site")
	}
}

// A call that is under way ends although the run is interrupted, so that the state has what sledd has stored.
func TestCallOutlivesAnInterrupt(t *testing.T) {
	s, _, calls := server(t)
	ctx, interrupt := context.WithCancel(t.Context())
	before := calls.Load()
	if d := s.Call(ctx, "list", func(ctx context.Context, client *api.Client) error {
		interrupt()
		return list(ctx, client)
	}); d.HasError() || calls.Load() != before+1 {
		t.Errorf("%v, %d calls", d, calls.Load()-before)
	}
	if d := s.Call(ctx, "list", list); !d.HasError() || calls.Load() != before+1 {
		t.Errorf("after the interrupt: %v, %d calls", d, calls.Load()-before)
	}
}
