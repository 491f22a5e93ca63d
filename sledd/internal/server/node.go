// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

const (
	maxWait = 60 * time.Second

	maxReport      = 1 << 20  // bytes: 256 lines of at most 4096
	maxFacts       = 64 << 10 // bytes
	maxLog         = 64 << 10 // bytes
	maxOperational = 16 << 10 // bytes

	publicTime = "public, max-age=10" // how long a web server need not ask again
)

// nodeRequest is a request of a node.
type nodeRequest struct {
	r      *http.Request
	mac    string
	bearer string
	body   string
}

// nodeResponse is the response to it.
type nodeResponse struct {
	token string // Sled-Token, if any
	kind  string // content type; empty: 204
	body  []byte
	pause int // Retry-After, in seconds, if more than 1
	// public: the response is the same for everybody, and may be cached for a moment.
	public bool
}

func (s *Server) nodeAPI(mux *http.ServeMux) {
	mux.HandleFunc("GET /node/v1/{mac}/{job}/{file}", s.nested)
	for pattern, handler := range s.nodeRoutes() {
		mux.HandleFunc(pattern, handler)
	}
}

// nodeRoutes are all requests of nodes. A node repeats one whose response was lost, so each has the same effect then.
func (s *Server) nodeRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"POST /node/v1/{mac}/hello":       s.hello,
		"GET /node/v1/{mac}/plan":         s.node(0, s.plan),
		"POST /node/v1/{mac}/ticket":      s.node(0, s.gated(gate.Claim, s.ticket)),
		"GET /node/v1/{mac}/seed":         s.node(0, s.gated(gate.Transfer, s.seed)),
		"GET /node/v1/{mac}/job":          s.node(0, s.gated(gate.Transfer, s.jobFolder)),
		"GET /node/v1/{mac}/upload":       s.node(0, s.gated(gate.Transfer, s.upload)),
		"GET /node/v1/{mac}/captured":     s.node(0, s.gated(gate.Transfer, s.captured)),
		"POST /node/v1/{mac}/report":      s.node(maxReport, s.report),
		"POST /node/v1/{mac}/facts":       s.node(maxFacts, s.gated(gate.Claim, s.facts)),
		"POST /node/v1/{mac}/log":         s.node(maxLog, s.gated(gate.Transfer, s.log)),
		"POST /node/v1/{mac}/lastwords":   s.node(maxLog, s.gated(gate.Transfer, s.lastWords)),
		"POST /node/v1/{mac}/operational": s.node(maxOperational, s.gated(gate.Step, s.operational)),
	}
}

// answerer answers a request of a node.
type answerer func(ctx context.Context, a nodeRequest) (nodeResponse, error)

// gated answers at a place of the gate.
func (s *Server) gated(class gate.Class, answer answerer) answerer {
	return func(ctx context.Context, a nodeRequest) (nodeResponse, error) {
		leave, err := s.Intake.Gate.Enter(ctx, class)
		if err != nil {
			return nodeResponse{}, err //nolint:wrapcheck // names the class
		}
		defer leave()
		return answer(ctx, a)
	}
}

// bodyError is a fault of a request of a node: 400.
type bodyError struct{ error }

// node reads what all requests of nodes have in common, and writes the answer. The token is checked before a body is
// read.
func (s *Server) node(limit int64, answer answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		nic, err := mac.Parse(r.PathValue("mac"))
		if err != nil {
			writeProblem(w, statusProblem(http.StatusBadRequest, err.Error()))
			return
		}
		a := nodeRequest{r: r, bearer: bearer(r.Header.Get("Authorization"))}
		if a.mac, err = s.Intake.NodeOf(r.Context(), nic, a.bearer); err != nil {
			writeProblem(w, problem(err))
			return
		}
		if limit == 0 && r.ContentLength != 0 {
			writeProblem(w, statusProblem(http.StatusBadRequest, r.Method+" "+r.URL.Path+" takes no body"))
			return
		}
		if limit > 0 {
			if err := s.Intake.Authenticate(r.Context(), a.mac, a.bearer); err != nil {
				writeProblem(w, problem(err))
				return
			}
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
			if err != nil {
				writeProblem(w, statusProblem(tooLarge(err), "body: "+err.Error()))
				return
			}
			a.body = string(body)
		}
		out, err := answer(r.Context(), a)
		var fault bodyError
		switch {
		case errors.As(err, &fault):
			writeProblem(w, statusProblem(http.StatusBadRequest, err.Error()))
		case refusal.Is(err, refusal.Invalid):
			writeProblem(w, statusProblem(http.StatusBadRequest, err.Error()))
		case err != nil:
			writeError(w, err)
		default:
			out.write(w)
		}
	}
}

func (o nodeResponse) write(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	if o.public {
		w.Header().Set("Cache-Control", publicTime)
	}
	if o.token != "" {
		w.Header().Set("Sled-Token", o.token)
	}
	if o.pause > 1 {
		w.Header().Set("Retry-After", strconv.Itoa(o.pause))
	}
	if o.kind == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", o.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(o.body)))
	_, _ = w.Write(o.body) // the node may be gone
}

func tooLarge(err error) int {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// bearer returns the token of an Authorization header, or nothing.
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (s *Server) plan(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	query := a.r.URL.Query()
	given, err := number(query, "run", intake.None)
	if err != nil {
		return nodeResponse{}, err
	}
	seconds, err := number(query, "wait", 0)
	if err != nil {
		return nodeResponse{}, err
	}
	if seconds > int64(maxWait/time.Second) {
		return nodeResponse{}, bodyError{fmt.Errorf("wait=%d: at most 60 seconds", seconds)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Stopping, cancel)() //nolint:contextcheck // the other context is the process's life
	answer, err := s.Intake.Poll(ctx, a.mac, a.bearer, given, time.Duration(seconds)*time.Second)
	if err != nil && s.Stopping.Err() != nil {
		return nodeResponse{}, nil
	}
	if err != nil || answer.Plan == "" {
		return nodeResponse{token: answer.Token}, err
	}
	return nodeResponse{token: answer.Token, kind: "text/plain; charset=us-ascii", body: []byte(answer.Plan)}, nil
}

// number reads a query parameter; if it is absent, it returns otherwise.
func number(query url.Values, name string, otherwise int64) (int64, error) {
	text := query.Get(name)
	if !query.Has(name) {
		return otherwise, nil
	}
	n, err := plan.Number(text)
	if err != nil {
		return 0, bodyError{fmt.Errorf("%s: %w", name, err)}
	}
	return n, nil
}

func (s *Server) report(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	parsed, err := report.Parse(a.body)
	if err != nil {
		return nodeResponse{}, bodyError{err}
	}
	class := gate.Step
	if parsed.IsProgress() {
		class = gate.Progress
	}
	return s.gated(class, func(ctx context.Context, a nodeRequest) (nodeResponse, error) {
		token, err := s.Intake.Report(ctx, a.mac, a.bearer, parsed)
		return nodeResponse{token: token, pause: s.Intake.Pause()}, err
	})(ctx, a)
}

func (s *Server) facts(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	hardware, err := report.ParseFacts(a.body)
	if err != nil {
		return nodeResponse{}, bodyError{err}
	}
	token, err := s.Intake.Facts(ctx, a.mac, a.bearer, hardware)
	return nodeResponse{token: token}, err
}

func (s *Server) log(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	step, err := number(a.r.URL.Query(), "step", 0)
	if err != nil {
		return nodeResponse{}, err
	}
	if step > plan.MaxLines {
		return nodeResponse{}, bodyError{fmt.Errorf("step=%d: a plan has at most %d lines", step, plan.MaxLines)}
	}
	token, err := s.Intake.Log(ctx, a.mac, a.bearer, int(step), nodetext.RawOf([]byte(a.body)))
	return nodeResponse{token: token}, err
}

func (s *Server) seed(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	seed, token, err := s.Intake.Seed(ctx, a.mac, a.bearer)
	return nodeResponse{token: token, kind: "application/x-tar", body: seed}, err
}

func (s *Server) ticket(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	ticket, token, err := s.Intake.Ticket(ctx, a.mac, a.bearer)
	return nodeResponse{token: token, kind: "text/plain", body: []byte(ticket + "\n")}, err
}

func (s *Server) operational(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	parsed, generation, uptime, err := report.ParseOperational(a.body)
	if err != nil {
		return nodeResponse{}, bodyError{err}
	}
	return nodeResponse{}, s.Intake.Operational(ctx, a.mac, a.bearer, parsed, generation, uptime)
}

// upload answers a web server that asks whether to take a captured image. The path is the name of its file.
func (s *Server) upload(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	if nic, err := mac.Parse(a.r.PathValue("mac")); err != nil || nic != a.mac {
		return nodeResponse{}, refusal.New(refusal.Forbidden, "a node with several NICs uploads its image as %s", a.mac)
	}
	generation, err := number(a.r.URL.Query(), "generation", -1)
	if err != nil {
		return nodeResponse{}, err
	}
	return nodeResponse{}, s.Intake.Upload(ctx, a.mac, a.bearer, generation)
}

// captured answers a web server that asks whether to serve the file of a captured image. The path names the node that
// made it; the token may be of another one.
func (s *Server) captured(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	generation, err := number(a.r.URL.Query(), "generation", -1)
	if err != nil {
		return nodeResponse{}, err
	}
	upload := a.r.URL.Query().Get("upload")
	if !plan.UploadID.MatchString(upload) {
		return nodeResponse{}, bodyError{fmt.Errorf("upload=%.40q: want the id of an upload, 32 digits 0-9 a-f", upload)}
	}
	public, err := s.Intake.MayRead(ctx, a.bearer, intake.Uploaded{MAC: a.mac, Generation: generation, Upload: upload})
	if err != nil || !public {
		return nodeResponse{}, err
	}
	return nodeResponse{kind: "text/plain; charset=utf-8", body: []byte("public\n"), public: true}, nil
}
