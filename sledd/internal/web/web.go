// SPDX-License-Identifier: Apache-2.0

// Package web is the dashboard: pages of the fleet for a browser, at /ui/. They are made of what the operator API
// answers, and of the sentences of the command line.
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/audit"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/limit"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	// answerTime bounds the work on one page.
	answerTime = 4 * time.Second
	// attempts of an address to log in at once; one more each attemptPause.
	attempts     = 10
	attemptPause = time.Minute
	// pageRows of a table at most.
	pageRows = 100
)

// Web answers browsers.
type Web struct {
	Fleet    *fleet.Fleet
	Rollouts *rolloutstore.Rollouts
	Hub      *events.Hub
	Consoles console.Directory
	Audit    *audit.Trail
	Log      *slog.Logger
	Version  string // of sledd
	// Stopping ends streams when it is done.
	Stopping context.Context //nolint:containedctx // the life of the process, not of a call
	// Client of the operator API, for changes that an operator requests.
	Client func(operator api.Operator) (*api.Client, error)

	attempts *limit.Keyed
	live     live
	kept     kept
}

// View is a page at a path of the ServeMux.
type View struct {
	Path  string
	Takes []string // parameters of the query
	show  func(w *Web, ask ask) (page, error)
}

// Views returns all views. A new one is covered by the tests of all.
func Views() []View {
	return []View{
		{"/ui/{$}", []string{"by"}, (*Web).fleet},
		{"/ui/nodes", nodeParameters, (*Web).nodes},
		{"/ui/nodes/{node}", nil, (*Web).node},
		{"/ui/rollouts", nil, (*Web).rollouts},
		{"/ui/rollouts/{rollout}", nil, (*Web).rollout},
		{"/ui/images", nil, (*Web).images},
		{"/ui/events", []string{"kind", "by"}, (*Web).events},
	}
}

// Register adds all routes.
func (w *Web) Register(mux *http.ServeMux) {
	w.kept = kept{pages: map[string]page{}, logins: map[[sha256.Size]byte]checked{}}
	w.attempts = limit.New(limit.Rate{Burst: attempts, Every: attemptPause})
	for _, view := range Views() {
		mux.Handle("GET "+view.Path, w.guard(func(out http.ResponseWriter, r *http.Request) { w.view(view, out, r) }))
	}
	for _, action := range Actions() {
		handler := w.guard(func(out http.ResponseWriter, r *http.Request) { w.act(action, out, r) })
		mux.Handle("GET "+action.Path, handler)
		mux.Handle("POST "+action.Path, handler)
	}
	mux.Handle("POST /ui/login", w.guard(w.login))
	mux.Handle("POST /ui/logout", w.guard(w.logout))
	mux.Handle("GET "+stylePath, w.guard(static(styleSheet, "text/css; charset=utf-8")))
	mux.Handle("GET "+scriptPath, w.guard(static(script, "text/javascript; charset=utf-8")))
	mux.Handle("GET "+iconPath, w.guard(static(iconImage, "image/svg+xml")))
	mux.Handle("/ui/", w.guard(func(out http.ResponseWriter, r *http.Request) {
		operator, _ := w.loggedIn(r.Context(), r) // without one, the page has no navigation
		w.fail(out, r, operator, refusal.New(refusal.NotFound, "%s is no page of the dashboard", r.URL.Path))
	}))
	mux.Handle("GET /{$}", http.RedirectHandler("/ui/", http.StatusFound))
}

// policy lets a page have nothing but the style sheet, the script and the icon of sledd.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses changes that another site sends, bounds the time, and sets the headers of every answer.
func (w *Web) guard(handler http.HandlerFunc) http.Handler {
	foreign := http.NewCrossOriginProtection()
	foreign.SetDenyHandler(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.fail(out, r, api.Operator{}, refusal.New(refusal.Forbidden, "another site sent this request: nothing was done"))
	}))
	guarded := foreign.Handler(handler)
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		header := out.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(out, r.Body, maxForm)
		if !streams(r) {
			ctx, cancel := context.WithTimeout(r.Context(), answerTime)
			defer cancel()
			r = r.WithContext(ctx)
		}
		guarded.ServeHTTP(out, r)
	})
}

// maxForm is the most bytes of a form.
const maxForm = 64 << 10

// ask is a request for a view by an operator who is logged in.
type ask struct {
	*http.Request
	Query    url.Values
	Now      time.Time
	Operator api.Operator
}

// page is what the layout shows around a view.
type page struct {
	Title    string
	View     string // name of its template
	Nav      string
	Refresh  int    // seconds until a browser without scripts reads it again; 0: never
	Live     bool   // its script keeps it current
	Streamed bool   // of a stream, which sends the cells of a grid by themselves
	Stale    string // how old it is, as the store does not answer: it has no actions
	Operator api.Operator
	Now      time.Time
	Version  string
	Search   string
	Body     any
}

// view answers with one.
func (w *Web) view(view View, out http.ResponseWriter, r *http.Request) {
	operator, err := w.loggedIn(r.Context(), r)
	if refusal.Is(err, refusal.Unauthorized) {
		w.loginPage(out, r, http.StatusUnauthorized, r.URL.RequestURI(), "")
		return
	}
	var shown page
	if err == nil {
		asked := ask{r, r.URL.Query(), w.Fleet.Now(), operator}
		err = takes(asked.Query, view.Takes)
		if err == nil && streams(r) {
			w.stream(view, out, asked) //nolint:contextcheck // the work for all tabs outlives the request of one
			return
		}
		if err == nil {
			shown, err = w.read(view, asked, asked.Now)
		}
	}
	if stale, found := w.stale(r, err); found {
		out.Header().Set("Retry-After", "5")
		w.write(out, http.StatusServiceUnavailable, stale)
		return
	}
	if err != nil {
		w.fail(out, r, operator, err)
		return
	}
	w.write(out, http.StatusOK, shown)
}

// read makes the page of a view, and keeps it. It is as old as the start of the reading: its age is never understated.
func (w *Web) read(view View, asked ask, started time.Time) (page, error) {
	shown, err := view.show(w, asked)
	if err != nil {
		return page{}, err
	}
	shown.Operator, shown.Live, shown.Now = asked.Operator, true, asked.Now
	w.kept.keep(asked.URL.RequestURI(), shown, started)
	return shown, nil
}

// takes refuses parameters that the view does not have.
func takes(query url.Values, known []string) error {
	for name := range query {
		if !slices.Contains(known, name) {
			return refusal.New(refusal.Invalid, "parameter %q does not exist here; this page takes: %s", name,
				wording.List(known))
		}
	}
	return nil
}

// statuses of refusals that are not the request's fault.
var statuses = map[refusal.Kind]int{refusal.Unauthorized: http.StatusUnauthorized,
	refusal.Forbidden: http.StatusForbidden, refusal.NotFound: http.StatusNotFound,
	refusal.TooMany: http.StatusTooManyRequests, refusal.Conflict: http.StatusConflict,
	refusal.Busy: http.StatusServiceUnavailable, refusal.Full: http.StatusServiceUnavailable}

const storeDown = "The store does not answer. Nodes go on with what they have; nothing new is started."

// fail answers with an error as a page.
func (w *Web) fail(out http.ResponseWriter, r *http.Request, operator api.Operator, err error) {
	status, text := http.StatusInternalServerError, "internal error of sledd; its log has the details"
	var refused *refusal.Error
	var unavailable *store.UnavailableError
	switch {
	case errors.As(err, &refused):
		status, text = statuses[refused.Kind], refused.Message
		if status == 0 {
			status = http.StatusBadRequest
		}
	case errors.As(err, &unavailable):
		status = http.StatusServiceUnavailable
		text = storeDown
		out.Header().Set("Retry-After", "5")
	case api.StatusOf(err) != 0 && api.StatusOf(err) < http.StatusInternalServerError:
		status, text = api.StatusOf(err), faultText(err)
	case api.IsUnreachable(err):
		status, text = http.StatusServiceUnavailable, storeDown
		out.Header().Set("Retry-After", "5")
	default:
		w.Log.Error("page failed", "path", r.URL.Path, "error", err)
	}
	shown := page{Title: http.StatusText(status), View: "problem", Operator: operator, Body: problem{status, text}}
	if status == http.StatusServiceUnavailable {
		shown.Refresh = 5
	}
	w.write(out, status, shown)
}

// problem is an error as a page shows it.
type problem struct {
	Status int
	Text   string
}

// write renders a page as a whole before the first byte is sent. Control and format characters of operators and of
// requests are replaced here, in one place; those of nodes are by the types of their text.
func (w *Web) write(out http.ResponseWriter, status int, shown page) {
	shown.Version = w.Version
	if shown.Now.IsZero() {
		shown.Now = w.Fleet.Now()
	}
	var text bytes.Buffer
	if err := templates[shown.View].ExecuteTemplate(&text, "layout.html", shown); err != nil {
		w.Log.Error("page failed", "view", shown.View, "error", err)
		http.Error(out, "internal error of sledd; its log has the details", http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteHeader(status)
	_, _ = io.WriteString(out, nodetext.Lines(text.String())) // the browser may be gone
}
