// SPDX-License-Identifier: Apache-2.0

// Package server is sledd's HTTP: the operator API, the nodes' API, boot scripts, health and metrics.
package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/audit"
	"github.com/sled-fleet/sled/sledd/internal/capacity"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/erasure"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/link"
	"github.com/sled-fleet/sled/sledd/internal/metrics"
	"github.com/sled-fleet/sled/sledd/internal/multicast"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/web"
)

const (
	// answerTime bounds the work on one request that does not wait by intention.
	answerTime = 4800 * time.Millisecond
	// writeTime is for sending one answer, or one piece of a stream.
	writeTime = 30 * time.Second
)

// Server answers requests.
type Server struct {
	Fleet    *fleet.Fleet
	Intake   *intake.Intake
	Rollouts *rolloutstore.Rollouts
	Hub      *events.Hub
	Capacity *capacity.Gauge
	Backup   func(ctx context.Context) (io.ReadCloser, error) // a snapshot of the store
	Audit    *audit.Trail
	Erasures *erasure.Chain
	Metrics  *metrics.Metrics
	Log      *slog.Logger
	Version  string // of sledd
	// Consoles are the records of consoles.
	Consoles console.Directory
	// Multicast is what the sender of images tells.
	Multicast multicast.File
	// Links is the neighbour table of this machine; nil: addresses are not compared with MACs.
	Links link.Table
	// Heartbeat is the time between two checks of the token of a stream; 0: the default.
	Heartbeat time.Duration
	// Loopback: it listens on an address of loopback, so that addresses do not distinguish its clients.
	Loopback bool
	// Stopping ends long polls and streams when it is done.
	Stopping context.Context //nolint:containedctx // the life of the process, not of a call

	probe    probe    // of the store
	scrapers scrapers // who read the metrics last
}

// Handler returns all routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.operatorAPI(mux)
	s.nodeAPI(mux)
	mux.HandleFunc("GET /boot/{file}", s.boot)
	mux.HandleFunc("GET /up/{token}", s.up)
	mux.HandleFunc("GET /healthz", s.healthy)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	(&web.Web{Fleet: s.Fleet, Rollouts: s.Rollouts, Hub: s.Hub, Consoles: s.Consoles, Audit: s.Audit, Log: s.Log,
		Version: s.Version, Stopping: s.Stopping, Client: s.clientOf(mux)}).Register(mux)
	return s.observe(mux)
}

func (s *Server) healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	body   *requestBody
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		r.closeUnread()
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(data []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
		r.closeUnread()
	}
	return r.ResponseWriter.Write(data) //nolint:wrapcheck // is the writer
}

// closeUnread ends the connection after an answer that is given before the body was read.
func (r *recorder) closeUnread() {
	if !r.body.ended {
		r.Header().Set("Connection", "close")
	}
}

// Unwrap lets http.ResponseController through.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// observe measures, logs, and answers what no route takes or what panics.
func (s *Server) observe(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		r, body := watchBody(withOrigin(r))
		out := &recorder{ResponseWriter: w, body: body}
		control := http.NewResponseController(out)
		defer func() {
			if fault := recover(); fault != nil {
				s.Log.Error("panic", "path", nodetext.WithoutTokens(r.URL.Path), "fault", fault, "stack", string(debug.Stack()))
				if out.status == 0 {
					writeProblem(out, statusProblem(http.StatusInternalServerError,
						"internal error of sledd; its log has the details"))
				}
			}
			if !body.ended {
				_ = control.SetReadDeadline(time.Now().Add(lingerTime))
			}
			s.note(r, out.status, time.Since(begin))
		}()
		_ = control.SetWriteDeadline(begin.Add(writeTime + maxWait))
		if _, pattern := mux.Handler(r); pattern == "" {
			unrouted(mux, out, r)
			return
		}
		mux.ServeHTTP(out, r)
	})
}

// unrouted answers 404 or 405 as the mux would, but as a problem. Redirects of the mux are kept.
func unrouted(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	answer := &refusedAnswer{header: http.Header{}}
	mux.ServeHTTP(answer, r)
	if allow := answer.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
	}
	if location := answer.header.Get("Location"); location != "" {
		w.Header().Set("Location", location)
	}
	writeProblem(w, statusProblem(answer.status, r.Method+" "+r.URL.Path+" is not known"))
}

// refusedAnswer keeps the head of an answer and drops its body.
type refusedAnswer struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (a *refusedAnswer) Header() http.Header { return a.header }

// Write implements http.ResponseWriter.
func (a *refusedAnswer) Write(data []byte) (int, error) { return len(data), nil }

// WriteHeader implements http.ResponseWriter.
func (a *refusedAnswer) WriteHeader(status int) { a.status = status }

func (s *Server) note(r *http.Request, status int, took time.Duration) {
	route := r.Pattern
	if route == "" {
		route = "none"
	}
	s.Metrics.Request(route, r.Method, status, took)
	level := slog.LevelDebug
	switch {
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case status >= http.StatusBadRequest:
		level = slog.LevelWarn
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		level = slog.LevelInfo
	}
	s.Log.Log(r.Context(), level, "request", "method", r.Method, "path", nodetext.WithoutTokens(r.URL.Path),
		"status", status, "seconds", took.Seconds(), "from", origin.Of(r.Context()).From())
}
