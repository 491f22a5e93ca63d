// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// scraper is the digest of the Authorization that was let through last. It reads the metrics also while the store is
// away, which is what they are to tell then.
type scraper = atomic.Pointer[[sha256.Size]byte]

// metrics answers GET /metrics, to operators of any role.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	authorization := r.Header.Get("Authorization")
	digest := sha256.Sum256([]byte(authorization))
	_, err := s.operator(ctx, authorization, api.Read)
	var unavailable *store.UnavailableError
	switch last := s.scraper.Load(); {
	case err == nil:
		s.scraper.Store(&digest)
	case errors.As(err, &unavailable) && last != nil && *last == digest:
	case refusal.Is(err, refusal.Unauthorized) && last != nil && *last == digest:
		s.scraper.CompareAndSwap(last, nil)
		fallthrough
	default:
		writeProblem(w, problem(err))
		return
	}
	s.Metrics.Handler().ServeHTTP(w, r)
}
