// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// operator makes one.
func (b *browser) operator(name string, role api.Role) api.Operator {
	b.Helper()
	made, err := b.Client().PutOperator(b.Context(), api.Operator{Name: name, Role: role})
	if err != nil {
		b.Fatal(err)
	}
	return made
}

// sees reports whether the login is valid at a sledd.
func (b *browser) sees(at *sleddtest.Sledd) bool {
	b.Helper()
	return at.AskOnce("GET", "/ui/", "", "Cookie", b.cookie).Status == http.StatusOK
}

func TestTheCookieIsForTheDashboardAlone(t *testing.T) {
	b := open(t, 40, sleddtest.Options{})
	set := b.login(sleddtest.AdminToken).Header.Get("Set-Cookie")
	value, attributes, _ := strings.Cut(set, "; ")
	if attributes != "Path=/; HttpOnly; Secure; SameSite=Strict" || len(value) != len("__Host-sled=")+64 {
		t.Errorf("cookie %s", set)
	}
	for _, path := range []string{"/v1/nodes", "/v1/events", "/v1/operators", "/v1/nodes/" + sleddtest.MAC(1),
		"/node/v1/" + sleddtest.MAC(1) + "/plan"} {
		if a := b.ask("GET", path, nil); a.Status != http.StatusUnauthorized {
			t.Errorf("%s answers the cookie with %d", path, a.Status)
		}
	}
	if a := b.AskOnce("GET", "/ui/", "", "Authorization", "Bearer "+sleddtest.AdminToken); a.Status == http.StatusOK {
		t.Error("the dashboard takes a token")
	}
}

func TestWithoutALoginNothingIsShown(t *testing.T) {
	b := open(t, 40, sleddtest.Options{})
	for _, cookie := range []string{"", "__Host-sled=", "__Host-sled=" + strings.Repeat("0", 64)} {
		for _, address := range addresses() {
			a := b.AskOnce("GET", address, "", "Cookie", cookie)
			if a.Status != http.StatusUnauthorized || strings.Contains(a.Body, "storage-hall") {
				t.Errorf("%s: %d %s", address, a.Status, a.Body)
			}
			if !strings.Contains(a.Body, `name="next" value="`+address+`"`) {
				t.Errorf("%s: the login does not lead back: %s", address, a.Body)
			}
		}
	}
}

func TestALoginLeadsToNoOtherSite(t *testing.T) {
	b := open(t, 1, sleddtest.Options{})
	for _, next := range []string{"https://evil.example/", "//evil.example/", `/ui/\evil`, "/v1/nodes", ""} {
		a := b.ask("POST", "/ui/login", url.Values{"token": {sleddtest.AdminToken}, "next": {next}})
		if a.Header.Get("Location") != "/ui/" {
			t.Errorf("%q leads to %q", next, a.Header.Get("Location"))
		}
	}
}

func TestAForeignSiteChangesNothing(t *testing.T) {
	b := open(t, 1, sleddtest.Options{})
	for _, path := range []string{"/ui/login", "/ui/logout"} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"}} {
			a := b.ask("POST", path, url.Values{"token": {sleddtest.AdminToken}}, headers...)
			if a.Status != http.StatusForbidden || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s with %q: %d", path, headers, a.Status)
			}
		}
		if a := b.ask("GET", path, nil); a.Status != http.StatusNotFound || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("GET %s: %d", path, a.Status)
		}
	}
	if !b.sees(b.Sledd) {
		t.Error("the login has ended")
	}
}

// A login ends, at every sledd, with what it was made of.
func TestALoginEnds(t *testing.T) {
	shared := &storetest.Memory{}
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	options := sleddtest.Options{Store: shared, Now: now}
	b := open(t, 1, options)
	other := sleddtest.StartWith(t, options)
	for name, end := range map[string]func(operator api.Operator){
		"logout":        func(api.Operator) { b.ask("POST", "/ui/logout", nil) },
		"deleted":       func(o api.Operator) { _ = b.Client().DeleteOperator(b.Context(), o.Name) },
		"another token": func(o api.Operator) { b.operator(o.Name, o.Role) },
		"another role":  func(o api.Operator) { b.operator(o.Name, api.Operate) },
		"8 hours":       func(api.Operator) { ahead.Add(int64(8*time.Hour + time.Second)) },
	} {
		ahead.Add(int64(time.Hour)) // of the limit of attempts
		made := b.operator("friday", api.Read)
		b.login(made.Token)
		if !b.sees(b.Sledd) || !b.sees(other) {
			t.Fatalf("%s: the login is not valid", name)
		}
		if end(made); b.sees(other) || b.sees(b.Sledd) {
			t.Errorf("%s does not end the login", name)
		}
	}
}

func TestALoginEndsWithItsToken(t *testing.T) {
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	b := open(t, 1, sleddtest.Options{Now: now})
	made, err := b.Client().PutOperator(t.Context(), api.Operator{Name: "friday", Role: api.Read,
		Expires: now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if b.login(made.Token); !b.sees(b.Sledd) {
		t.Fatal("the login is not valid")
	}
	if ahead.Add(int64(time.Hour)); b.sees(b.Sledd) {
		t.Error("the login outlives its token")
	}
}

func TestALogoutOfAStrangerWritesNothing(t *testing.T) {
	shared := &storetest.Memory{}
	b := open(t, 1, sleddtest.Options{Store: shared})
	shared.Before(func(call string) error {
		if call == "commit" {
			t.Error("it writes")
		}
		return nil
	})
	b.cookie = "__Host-sled=" + strings.Repeat("0", 64)
	if a := b.ask("POST", "/ui/logout", nil); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	shared.Before(nil)
}

func TestALoginLastsWhileItIsUsed(t *testing.T) {
	var ahead atomic.Int64
	b := open(t, 1, sleddtest.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	for range 6 {
		if ahead.Add(int64(5 * time.Hour)); !b.sees(b.Sledd) {
			t.Fatalf("the login has ended after %s", time.Duration(ahead.Load()))
		}
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	b := open(t, 1, sleddtest.Options{}) // which was the first attempt
	for i := 2; i <= 11; i++ {
		a := b.ask("POST", "/ui/login", url.Values{"token": {"wrong"}})
		if want := i > 10; (a.Status == http.StatusTooManyRequests) != want || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("attempt %d: %d", i, a.Status)
		}
	}
	if a := b.ask("POST", "/ui/login", url.Values{"token": {sleddtest.AdminToken}}); a.Status == http.StatusSeeOther {
		t.Error("the right token is taken after too many attempts")
	}
}
