// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
)

// up answers GET /up/<token>: a payload confirms that it runs. There is no TLS in payloads, so the token opens nothing
// else, and counts once.
func (s *Server) up(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	if err := s.Intake.Up(ctx, r.PathValue("token")); err != nil {
		model := problem(err)
		http.Error(w, model.Detail, model.Status)
		return
	}
	_, _ = w.Write([]byte("up\n"))
}
