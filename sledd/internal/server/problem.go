// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

var statuses = map[refusal.Kind]int{
	refusal.Invalid: http.StatusUnprocessableEntity, refusal.Unauthorized: http.StatusUnauthorized,
	refusal.Forbidden: http.StatusForbidden, refusal.NotFound: http.StatusNotFound, refusal.Conflict: http.StatusConflict,
	refusal.Precondition: http.StatusPreconditionFailed, refusal.Busy: http.StatusServiceUnavailable,
	refusal.TooMany:    http.StatusTooManyRequests,
	refusal.Unfinished: http.StatusServiceUnavailable, refusal.Full: http.StatusServiceUnavailable,
	refusal.Withheld: http.StatusConflict,
}

// problem makes any error an answer (RFC 9457). A store that does not answer is 503, never 404.
func problem(err error) *huma.ErrorModel {
	model := &huma.ErrorModel{Status: http.StatusInternalServerError, Detail: err.Error()}
	var refused *refusal.Error
	var unavailable *store.UnavailableError
	var busy *gate.BusyError
	switch {
	case errors.As(err, &refused):
		model.Status = statuses[refused.Kind]
		for _, detail := range refused.Details {
			model.Errors = append(model.Errors, &huma.ErrorDetail{Location: detail.Location, Message: detail.Message,
				Value: detail.Value})
		}
	case errors.Is(err, events.ErrGone):
		model.Status = http.StatusGone
	case errors.As(err, &unavailable), errors.As(err, &busy):
		model.Status = http.StatusServiceUnavailable
	}
	model.Title = http.StatusText(model.Status)
	return model
}

// writeError answers a node. One that is refused at the gate learns when to return.
func writeError(w http.ResponseWriter, err error) {
	var busy *gate.BusyError
	if errors.As(err, &busy) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(busy.After.Seconds()))))
	}
	writeProblem(w, problem(err))
}

// writeProblem answers with an error outside of the operator API.
func writeProblem(w http.ResponseWriter, model *huma.ErrorModel) {
	if model.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if model.Status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	if model.Status == http.StatusTooManyRequests || model.Status == http.StatusConflict {
		w.Header().Set("Retry-After", "10")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(model.Status)
	_ = json.NewEncoder(w).Encode(model) // the client may be gone
}

func statusProblem(status int, detail string) *huma.ErrorModel {
	return &huma.ErrorModel{Status: status, Title: http.StatusText(status), Detail: detail}
}
