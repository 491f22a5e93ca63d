// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/sled-fleet/sled/ipxe"
	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// cacheable lets nginx ask every time while sledd answers, and serve the last script when it does not.
const cacheable = "public, max-age=1, stale-if-error=31536000"

// boot answers GET and HEAD /boot/<mac>.ipxe. There is no token to check: firmware has none.
func (s *Server) boot(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	file := r.PathValue("file")
	name, found := strings.CutSuffix(file, ".ipxe")
	address, err := mac.Parse(name)
	if err != nil || !found {
		s.showError(w, http.StatusBadRequest, "/boot/"+file+" is not /boot/MAC.ipxe with a MAC as in 52-54-00-77-00-01")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	script, err := s.Intake.Script(ctx, address, r.Method == http.MethodGet)
	if err != nil {
		model := problem(err)
		s.Log.Warn("no boot script", "node", address, "error", err)
		s.showError(w, model.Status, "sledd cannot decide what node "+address+" boots: "+model.Title)
		return
	}
	if script.Local {
		w.Header().Set("Cache-Control", cacheable)
	}
	_, _ = w.Write([]byte(script.Text)) // the node may be gone
}

// showError answers with a script that shows the error: iPXE does not run it; people with curl and
// proxies that pass it on do.
func (s *Server) showError(w http.ResponseWriter, status int, message string) {
	text, err := ipxe.Error(message)
	if err != nil {
		s.Log.Error("error script", "error", err)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) //nolint:gosec // plain text for iPXE; ipxe.Error takes out what it would interpret
}
