// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
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
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, admission.MaxText))
	if err != nil {
		writeProblem(w, statusProblem(tooLarge(err), "body: "+err.Error()))
		return
	}
	hello, err := admission.ParseHello(string(body))
	if err != nil {
		writeProblem(w, statusProblem(http.StatusBadRequest, err.Error()))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	answer, token, err := s.Intake.Hello(ctx, address, bearer(r.Header.Get("Authorization")), hello, source(ctx, address))
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

// source is where a request comes from.
func source(ctx context.Context, address string) intake.Source {
	peer := origin.Of(ctx).Address
	if !peer.IsValid() || peer.IsLoopback() {
		return intake.Source{Link: admission.LinkUnknown}
	}
	table, err := os.ReadFile("/proc/net/arp")
	if err != nil {
		return intake.Source{Address: peer.String(), Link: admission.LinkUnknown}
	}
	link, holder := linkOf(string(table), peer.String(), address)
	return intake.Source{Address: peer.String(), Link: link, Holder: holder}
}

// linkOf compares the neighbour entry of an address with the MAC that is claimed. Without a complete entry the address
// is behind a router, or of IPv6. holder is the MAC of the entry, if it is another.
func linkOf(table, peer, address string) (link admission.Link, holder string) {
	const complete = "0x2"
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[0] != peer || fields[2] != complete {
			continue
		}
		if fields[3] == address {
			return admission.LinkSame, ""
		}
		return admission.LinkOther, fields[3]
	}
	return admission.LinkUnknown, ""
}
