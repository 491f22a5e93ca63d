// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// maxProblem bounds the body of a refusal. A bulk call names each item that was refused.
const maxProblem = 4 << 20

// Error is sledd's refusal: application/problem+json (RFC 9457).
type Error struct {
	Status int           `json:"status"`
	Title  string        `json:"title"`
	Detail string        `json:"detail"`
	Errors []ErrorDetail `json:"errors,omitempty"` // what is wrong, one by one
	Method string        `json:"-"`
	Path   string        `json:"-"`

	spoken bool // it was problem+json: sledd said it, not something in between
}

// ErrorDetail is one thing that is wrong, and where in the request.
type ErrorDetail struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty"`
	Value    any    `json:"value,omitempty"`
}

// Error tells what sledd said, each detail, and the status.
func (e *Error) Error() string {
	text := e.Detail
	if text == "" {
		text = e.Method + " " + e.Path
	}
	var details []string
	for _, detail := range e.Errors {
		if len(e.Errors) > 1 || detail.Message != e.Detail {
			details = append(details, detail.String())
		}
	}
	if len(details) > 0 {
		text += ": " + strings.Join(details, "; ")
	}
	return fmt.Sprintf("%s (%d %s)", text, e.Status, e.Title)
}

func (d ErrorDetail) String() string {
	if d.Location == "" {
		return d.Message
	}
	return d.Location + ": " + d.Message
}

// UnreachableError says that nobody answered: no route, no TLS trust, no answer in time. What was asked may or may not have happened.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached: %v", e.Server, e.Err)
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusOf is the HTTP status of a refusal, 0 for every other error.
func StatusOf(err error) int {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal.Status
	}
	return 0
}

// IsNotFound holds only when sledd itself said that the thing is not there; never for a read error, nor for a page of a proxy.
func IsNotFound(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.spoken && refusal.Status == http.StatusNotFound
}

// IsConflict holds when the thing was changed meanwhile, or is of another content or in use.
func IsConflict(err error) bool {
	status := StatusOf(err)
	return status == http.StatusConflict || status == http.StatusPreconditionFailed
}

// IsDenied holds when the token is unknown or its role is too low.
func IsDenied(err error) bool {
	status := StatusOf(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// IsUnreachable holds when nobody answered, or sledd cannot reach its store: worth another try later.
func IsUnreachable(err error) bool {
	var unreachable *UnreachableError
	return errors.As(err, &unreachable) || StatusOf(err) >= http.StatusInternalServerError
}

// problem makes an Error of an answer that is not 2xx, also of one that a proxy wrote.
func problem(r request, response *http.Response) error {
	refusal := &Error{}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err == nil && strings.HasSuffix(kind, "json") {
		if json.Unmarshal(body, refusal) == nil {
			refusal.spoken = kind == "application/problem+json"
		} else {
			*refusal = Error{Detail: "the answer is no problem+json"}
		}
	}
	refusal.Method, refusal.Path, refusal.Status = r.method, r.path, response.StatusCode
	if refusal.Title == "" {
		refusal.Title = http.StatusText(response.StatusCode)
	}
	if to := response.Header.Get("Location"); response.StatusCode/100 == 3 && to != "" {
		refusal.Detail = "sent on to " + to + ": give that address as the server"
	}
	return refusal
}
