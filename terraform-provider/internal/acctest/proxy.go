// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Fault is how a server fails to answer. It returns when the answer is complete.
type Fault func(http.ResponseWriter, *http.Request)

// Status answers with a problem of this status.
func Status(code int, detail string) Fault {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"status":` + strconv.Itoa(code) + `,"title":` +
			strconv.Quote(http.StatusText(code)) + `,"detail":` + strconv.Quote(detail) + `}`))
	}
}

// Garbage answers 200 with something that is not JSON.
func Garbage(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte("<html>It works!</html>"))
}

// Other answers 200 with an empty JSON object, as another server may.
func Other(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{}"))
}

// Hang accepts the request and does not answer until the client disconnects.
func Hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client is gone
	<-r.Context().Done()
}

// Cut closes the connection without an answer.
func Cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// Faults are all faults, by name. The 404 is not sledd's own but a page of a proxy.
func Faults() map[string]Fault {
	return map[string]Fault{
		"500":     Status(http.StatusInternalServerError, "something broke"),
		"503":     Status(http.StatusServiceUnavailable, "store: read: no leader"),
		"401":     Status(http.StatusUnauthorized, "unknown token"),
		"403":     Status(http.StatusForbidden, "role read is too low"),
		"garbage": Garbage, "cut": Cut, "404": http.NotFound,
	}
}

// Proxy stands between the provider and a sledd, and injects faults, but for dry runs.
type Proxy struct {
	URL string

	mu     sync.Mutex
	method string
	prefix string
	fault  Fault
	before func()
	left   int // requests that are forwarded until then
}

// NewProxy forwards to the sledd at this URL.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	onward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := p.faultOf(r); fault != nil {
			fault(w, r)
			return
		}
		onward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

func (p *Proxy) faultOf(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method != p.method || !strings.HasPrefix(r.URL.Path, p.prefix) {
		return nil
	}
	if r.URL.Query().Has("dry_run") { // which a plan sends, and which writes nothing
		return nil
	}
	if p.left > 0 {
		p.left--
		return nil
	}
	if p.before != nil {
		p.before()
		p.before = nil
	}
	return p.fault
}

// Break makes requests of this method to paths with this prefix fail from now on.
func (p *Proxy) Break(method, prefix string, fault Fault) { p.set(method, prefix, 0, fault, nil) }

// Before runs a function once, before the next request of this method to a path with this prefix is forwarded.
func (p *Proxy) Before(method, prefix string, do func()) { p.set(method, prefix, 0, nil, do) }

// After is Before with some requests that are forwarded first.
func (p *Proxy) After(requests int, method, prefix string, do func()) {
	p.set(method, prefix, requests, nil, do)
}

// Mend forwards everything again.
func (p *Proxy) Mend() { p.set("", "", 0, nil, nil) }

func (p *Proxy) set(method, prefix string, left int, fault Fault, before func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.method, p.prefix, p.left, p.fault, p.before = method, prefix, left, fault, before
}
