// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sled-fleet/sled/ipxe"
	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// How caches handle scripts. While sledd does not answer, a node boots its disk rather than wait in the Sled system, so
// only a script for the disk is served stale.
const (
	cacheLocal = "public, max-age=1, stale-if-error=31536000"
	cacheSled  = "no-cache"
)

// boot answers GET and HEAD /boot/<mac>.ipxe. There is no token to check: firmware has none. So nothing is changed.
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
	script, err := s.script(ctx, address)
	if err != nil {
		model := problem(err)
		s.Log.Warn("no boot script", "node", address, "error", err)
		s.showError(w, model.Status, "sledd cannot decide what node "+address+" boots: "+model.Title)
		return
	}
	w.Header().Set("Cache-Control", cacheSled)
	if script.Local {
		w.Header().Set("Cache-Control", cacheLocal)
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(script.Text))))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(script.Text))
}

func (s *Server) script(ctx context.Context, address string) (intake.Script, error) {
	leave, err := s.Intake.Gate.Enter(ctx, gate.Script)
	if err != nil {
		return intake.Script{}, err //nolint:wrapcheck // names the class
	}
	defer leave()
	return s.Intake.Script(ctx, address)
}

// showError answers with a script that shows the error: iPXE does not run it; people with curl and
// proxies that pass it on do.
func (s *Server) showError(w http.ResponseWriter, status int, message string) {
	text, err := ipxe.Error(message)
	if err != nil {
		s.Log.Error("error script", "error", err)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // plain text for iPXE; ipxe.Error takes out what it would interpret
}
