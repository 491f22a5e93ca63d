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

// maxProblem limits the body of a refusal. That of a bulk request names each refused item.
const maxProblem = 4 << 20

// Error is sledd's refusal: application/problem+json (RFC 9457).
type Error struct {
	Status int           `json:"status"`
	Title  string        `json:"title"`
	Detail string        `json:"detail"`
	Errors []ErrorDetail `json:"errors,omitempty"` // each fault
	Method string        `json:"-"`
	Path   string        `json:"-"`

	authentic bool // problem+json: the response of sledd, not of a proxy
}

// ErrorDetail is one fault and its place in the request.
type ErrorDetail struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty"`
	Value    any    `json:"value,omitempty"`
}

// Error returns the detail, each fault, and the status.
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

// UnreachableError is a request without a response: no route, no TLS trust, or no answer in time. Its effect is
// unknown.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached: %v", e.Server, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusOf returns the HTTP status of a refusal; 0 for any other error.
func StatusOf(err error) int {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal.Status
	}
	return 0
}

// IsNotFound reports whether sledd answered that the object does not exist. It is false for the 404 of a proxy.
func IsNotFound(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.authentic && refusal.Status == http.StatusNotFound
}

// IsConflict reports whether the object changed meanwhile, has other content, or is in use.
func IsConflict(err error) bool {
	status := StatusOf(err)
	return status == http.StatusConflict || status == http.StatusPreconditionFailed
}

// IsDenied reports whether the token is unknown or its role does not suffice.
func IsDenied(err error) bool {
	status := StatusOf(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// IsUnreachable reports whether sledd did not answer, or cannot reach its store: a later attempt may succeed.
func IsUnreachable(err error) bool {
	var unreachable *UnreachableError
	return errors.As(err, &unreachable) || StatusOf(err) >= http.StatusInternalServerError
}

// problem makes an Error of a response that is not 2xx, also if a proxy sent it.
func problem(r request, response *http.Response) error {
	refusal := &Error{}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err == nil && strings.HasSuffix(kind, "json") {
		if json.Unmarshal(body, refusal) == nil {
			refusal.authentic = kind == "application/problem+json"
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
