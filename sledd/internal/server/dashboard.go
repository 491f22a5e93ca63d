// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
)

// inside carries requests of the dashboard to the operator API, in process. The API checks, records and answers them as
// those of every client.
type inside struct {
	handler  http.Handler
	operator api.Operator // whose login was checked
}

type loginSlot struct{}

// RoundTrip implements http.RoundTripper.
func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &heldAnswer{header: http.Header{}, status: http.StatusOK}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	i.handler.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), loginSlot{}, i.operator)))
	return &http.Response{StatusCode: answer.status, Header: answer.header, Body: io.NopCloser(&answer.body),
		Request: r}, nil
}

// heldAnswer keeps an answer.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *heldAnswer) Header() http.Header { return a.header }

// Write implements http.ResponseWriter.
func (a *heldAnswer) Write(data []byte) (int, error) { return a.body.Write(data) }

// WriteHeader implements http.ResponseWriter.
func (a *heldAnswer) WriteHeader(status int) { a.status = status }

// clientOf returns a client of the API for an operator who is logged in to the dashboard.
func (s *Server) clientOf(handler http.Handler) func(operator api.Operator) (*api.Client, error) {
	return func(operator api.Operator) (*api.Client, error) {
		return api.New(api.Config{Server: "http://localhost", UserAgent: "sled-dashboard/" + s.Version,
			Transport: inside{handler, operator}})
	}
}

// operator returns who sent a request: the one who is logged in, else that of the token.
func (s *Server) operator(ctx context.Context, authorization string, needed api.Role) (api.Operator, error) {
	if operator, is := ctx.Value(loginSlot{}).(api.Operator); is {
		return operator, fleet.Permit(operator, needed)
	}
	return s.Fleet.Authorize(ctx, bearer(authorization), needed)
}
