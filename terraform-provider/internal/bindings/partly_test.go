// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
	"github.com/sled-fleet/sled/terraform-provider/internal/bindings"
)

// passing is a fault that lets the first calls through.
func passing(t *testing.T, server string, calls int64, then acctest.Fault) acctest.Fault {
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	onward := httputil.NewSingleHostReverseProxy(to)
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1) <= calls {
			onward.ServeHTTP(w, r)
			return
		}
		then(w, r)
	}
}

func TestAccOnlyAPart(t *testing.T) {
	bindings.SetMost(t, 2)
	for name, fault := range acctest.Faults() {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			proxy := acctest.NewProxy(t, s.URL)
			s.header = acctest.Header(proxy.URL)
			proxy.Break(http.MethodPost, "/v1/bindings", passing(t, s.URL, 1, fault))
			s.declare(block("x", images("d12", "d12", "d12", "d12")))
			if out := s.Run("apply", "-auto-approve"); out.Code == 0 ||
				!strings.Contains(acctest.Flat(out.Text), "2 of 4 machines are as planned") {
				t.Errorf("%d: %s", out.Code, out.Text)
			}
			s.bound("d12@1", "d12@1", "", "")
			proxy.Mend()
			s.apply(block("x", images("d12", "d12", "d12", "d12")))
			s.bound("d12@1", "d12@1", "d12@1", "d12@1")
			proxy.Break(http.MethodPost, "/v1/bindings", passing(t, s.URL, 1, fault))
			changed := block("x", images("d13", "d12", "d13", "d13"), `disk = "serial:OTHER"`,
				`reimage_triggers = { "52:54:00:77:00:01" = "a", "52:54:00:77:00:04" = "a" }`)
			s.declare(changed)
			if out := s.Run("apply", "-auto-approve"); out.Code == 0 {
				t.Error(out.Text)
			}
			s.bound("d13@2", "d12@2", "d12@1", "d12@1")
			proxy.Mend()
			s.apply(changed)
			s.bound("d13@2", "d12@2", "d13@2", "d13@2")
		})
	}
}

// TestAccUnanswered loses the answer to a call that sledd has done.
func TestAccUnanswered(t *testing.T) {
	s := start(t)
	proxy := acctest.NewProxy(t, s.URL)
	s.header = acctest.Header(proxy.URL)
	s.apply(block("x", images("d12", "d12")))
	lost := func(w http.ResponseWriter, r *http.Request) {
		passing(t, s.URL, 1, nil)(discard{w.Header().Clone()}, r)
		acctest.Cut(w, r)
	}
	proxy.Break(http.MethodPost, "/v1/bindings", lost)
	changed := block("x", images("d12", "d13"), `reimage_triggers = { "52:54:00:77:00:01" = "a" }`)
	s.declare(changed)
	if out := s.Run("apply", "-auto-approve"); out.Code == 0 {
		t.Error(out.Text)
	}
	s.bound("d12@2", "d13@2")
	proxy.Mend()
	s.apply(changed)
	s.bound("d12@2", "d13@2")
	if !strings.Contains(s.State(), `"a"`) {
		t.Errorf("the trigger is not in the state:\n%s", s.State())
	}
}

// discard takes an answer that nobody hears.
type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (d discard) Write(text []byte) (int, error) { return len(text), nil }
func (d discard) WriteHeader(int)                {}

// An apply passes the limits on, so that sledd counts what changed since the plan.
func TestAccLimitsAreSent(t *testing.T) {
	s := start(t)
	proxy := acctest.NewProxy(t, s.URL)
	s.header = acctest.Header(proxy.URL, "max_wipes = 7", "max_reimages = 5")
	var sent api.BulkBindings
	proxy.Break(http.MethodPost, "/v1/bindings", func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		acctest.Status(http.StatusConflict, "max_wipes is 7, but 8 nodes would be wiped")(w, r)
	})
	s.declare(block("x", images("d12"), "max_reimages = 3"))
	s.Fails("max_wipes is 7, but 8 nodes", "apply", "-auto-approve")
	if sent.MaxWipes == nil || *sent.MaxWipes != 7 || sent.MaxReimages == nil || *sent.MaxReimages != 3 {
		t.Errorf("%+v", sent.Limits)
	}
}
