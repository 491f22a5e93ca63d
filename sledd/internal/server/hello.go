// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/link"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/origin"
)

// hello takes the claim of a machine to be a node. It needs no token, so its body is small.
func (s *Server) hello(w http.ResponseWriter, r *http.Request) {
	address, err := mac.Parse(r.PathValue("mac"))
	if err != nil {
		writeProblem(w, statusProblem(http.StatusBadRequest, err.Error()))
		return
	}
	hello, status, err := readHello(w, r)
	if err != nil {
		writeProblem(w, statusProblem(status, err.Error()))
		return
	}
	leave, err := s.Intake.Gate.Enter(r.Context(), gate.Claim)
	if err != nil {
		writeError(w, err)
		return
	}
	defer leave()
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	ticket := bearer(r.Header.Get("Authorization")) // or the token of the same claim
	answer, token, err := s.Intake.Hello(ctx, address, ticket, hello, s.source(ctx))
	if err != nil {
		writeProblem(w, problem(err))
		return
	}
	text, err := answer.Text()
	if err != nil {
		writeProblem(w, problem(err))
		return
	}
	nodeResponse{token: token, kind: "text/plain; charset=us-ascii", body: []byte(text)}.write(w)
}

// readHello reads the body. The status is that of an error.
func readHello(w http.ResponseWriter, r *http.Request) (admission.Hello, int, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, admission.MaxText))
	if err != nil {
		return admission.Hello{}, tooLarge(err), fmt.Errorf("body: %w", err)
	}
	hello, err := admission.ParseHello(string(body))
	return hello, http.StatusBadRequest, err //nolint:wrapcheck // names the line
}

// source is the sender of a request. An address that cannot be compared with the claimed MACs is not known to be
// wrong. A process on this machine is no node, unless sledd listens for such processes alone.
func (s *Server) source(ctx context.Context) intake.Source {
	peer := origin.Of(ctx).Address
	switch {
	case !peer.IsValid(), peer.IsLoopback() && s.Loopback:
		return intake.Source{}
	case peer.IsLoopback():
		return intake.Source{Address: peer.String(), Link: func([]string) (admission.Link, string) {
			return admission.LinkOther, ""
		}}
	}
	return intake.Source{Address: peer.String(), Link: func(claimed []string) (admission.Link, string) {
		of, holder, err := link.Check(s.Links, peer, claimed)
		if err != nil {
			s.Log.Warn("the link of a claim is not checked", "node", claimed[0], "error", err)
		}
		return of, holder
	}}
}
