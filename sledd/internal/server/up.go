// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
)

// mostExit is the largest exit code of a program.
const mostExit = 255

// up answers GET /up/<token>: a payload confirms that it runs, or as a job, that it has ended, with ?exit=N. There is
// no TLS in payloads, so the token opens nothing else, and counts once.
func (s *Server) up(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	exit, err := number(r.URL.Query(), "exit", 0)
	if err != nil || exit > mostExit {
		http.Error(w, "exit: want a number from 0 to 255", http.StatusBadRequest)
		return
	}
	if err := s.Intake.Up(ctx, r.PathValue("token"), int(exit)); err != nil {
		model := problem(err)
		http.Error(w, model.Detail, model.Status)
		return
	}
	_, _ = w.Write([]byte("up\n"))
}
