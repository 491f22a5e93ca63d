// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/web"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// After a login that ended within a form, the form is back with its values.
func TestAFormSurvivesAnEndedLogin(t *testing.T) {
	b, machine := bench(t)
	b.Declare(waiting)
	machine.Poll(0)
	made := b.operator("friday", api.Operate) // another token
	sent := url.Values{"act": {"show"}, "image": {"debian-12-v2"}, "keys": {sshkeys.Alice + " alice"}}
	a := b.ask("POST", form("install"), sent)
	if a.Status != http.StatusUnauthorized {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	a = b.ask("POST", "/ui/login", with(fieldsOf(a.Body), "token", made.Token))
	b.cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
	back := b.filled(a.Header.Get("Location"))
	if back.Get("image") != "debian-12-v2" || back.Get("keys") != sshkeys.Alice+" alice" {
		t.Errorf("%s: %v", a.Header.Get("Location"), back)
	}
}

// forms are the addresses of all actions.
func forms() []string {
	var list []string
	for _, action := range web.Actions() {
		list = append(list, placeholders.Replace(action.Path))
	}
	return list
}

// everything is values for each field of each form.
func everything() url.Values {
	values := url.Values{"typed": {"n1"}, "generation": {"1"}, "keys": {sshkeys.Alice}, "code": {"K7QF-2M9D"},
		"name": {"n1"}, "until": {"2100-01-01T00:00:00Z"}, "image": {"debian"}}
	for _, act := range []string{"accept", "admit", "ack", "start", "install", "abort"} {
		values.Add("act", act)
	}
	return values
}

// Each form is refused from another site, and by role read; a GET shows it, and has no effect.
func TestFormsAreGuarded(t *testing.T) {
	b := open(t, 40, sleddtest.Options{})
	b.rolled()
	reader := &browser{T: t, Sledd: b.Sledd}
	reader.login(b.operator("eve", api.Read).Token)
	before := b.writes()
	for _, address := range forms() {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"}} {
			if a := b.ask("POST", address, everything(), headers...); a.Status != http.StatusForbidden {
				t.Errorf("%s with %q: %d", address, headers, a.Status)
			}
		}
		if a := b.ask("GET", address, nil); a.Status != http.StatusOK {
			t.Errorf("GET %s: %d %s", address, a.Status, a.Body)
		}
		if a := b.ask("GET", address+"?"+everything().Encode(), nil); a.Status != http.StatusBadRequest {
			t.Errorf("GET %s with values: %d", address, a.Status)
		}
		for _, method := range []string{"GET", "POST"} {
			if a := reader.ask(method, address, url.Values{}); a.Status != http.StatusForbidden {
				t.Errorf("%s %s with role read: %d", method, address, a.Status)
			}
			if a := b.AskOnce(method, address, ""); a.Status != http.StatusUnauthorized {
				t.Errorf("%s %s without a login: %d", method, address, a.Status)
			}
		}
		for _, method := range []string{"PUT", "DELETE", "PATCH"} {
			if a := b.ask(method, address, everything()); a.Status < 400 {
				t.Errorf("%s %s: %d", method, address, a.Status)
			}
		}
		gone := strings.NewReplacer(sleddtest.MAC(14), "absent", "reimage-1", "absent-1").Replace(address)
		if a := b.ask("GET", gone, nil); a.Status != http.StatusNotFound || !strings.Contains(a.Body, `type="search"`) {
			t.Errorf("%s: %d %s", gone, a.Status, a.Body)
		}
	}
	if b.writes() != before {
		t.Error("something was changed")
	}
	tried := b.Ask("GET", "/v1/audit?operator=eve", sleddtest.AdminToken, "").Body
	if !strings.Contains(tried, `"status":403`) || !strings.Contains(tried, `"via":"web"`) ||
		!strings.Contains(tried, `"from":"127.0.0.1"`) {
		t.Errorf("what role read has tried is not in the audit: %s", tried)
	}
	for _, address := range addresses() {
		if strings.Contains(reader.ask("GET", address, nil).Body, "…</a>") {
			t.Errorf("%s offers an action to role read", address)
		}
	}
}
