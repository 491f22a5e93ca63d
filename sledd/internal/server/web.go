// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

const (
	headerTime = 10 * time.Second
	// readTime is for a request to arrive, with its body. Operations with large bodies extend it. Long polls and streams
	// are not cut: net/http lifts the deadline once the request has arrived.
	readTime = 30 * time.Second
	idleTime = 2 * time.Minute
	// lingerTime is for the rest of a body that nobody reads: so the client has sent it, and reads the answer, before
	// the connection is closed.
	lingerTime = time.Second
	maxHeader  = 32 << 10 // bytes
)

// Web makes the HTTP server of a handler. Every part of a request has a deadline.
func Web(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
}

// requestBody notes whether a body was read to its end.
type requestBody struct {
	io.ReadCloser
	ended bool
}

// Read implements io.Reader.
func (b *requestBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err //nolint:wrapcheck // is the body
}

// watchBody returns the request with a body that is watched; a request without one has none left to read.
func watchBody(r *http.Request) (*http.Request, *requestBody) {
	body := &requestBody{ReadCloser: r.Body, ended: r.ContentLength == 0}
	watched := r.WithContext(r.Context()) // a copy: net/http reads its own body
	watched.Body = body
	return watched, body
}
