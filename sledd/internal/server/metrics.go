// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// mostScrapers bounds the scrapers that are known.
const mostScrapers = 8

// scrapers are digests of the Authorizations that were let through last, the newest first. They read the metrics also
// while the store is away, which is what they are to tell then.
type scrapers struct {
	mu    sync.Mutex
	known [][sha256.Size]byte
}

// admit makes one the newest.
func (s *scrapers) admit(one [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = slices.Insert(s.others(one), 0, one)
	s.known = s.known[:min(len(s.known), mostScrapers)]
}

// forget removes one.
func (s *scrapers) forget(one [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = s.others(one)
}

// others are all but one.
func (s *scrapers) others(one [sha256.Size]byte) [][sha256.Size]byte {
	return slices.DeleteFunc(s.known, func(other [sha256.Size]byte) bool { return other == one })
}

// has reports whether one is known.
func (s *scrapers) has(one [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.known, one)
}

// metrics answers GET /metrics, to operators of any role.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	authorization := r.Header.Get("Authorization")
	digest := sha256.Sum256([]byte(authorization))
	_, err := s.operator(ctx, authorization, api.Read)
	var unavailable *store.UnavailableError
	switch {
	case err == nil:
		s.scrapers.admit(digest)
	case errors.As(err, &unavailable) && s.scrapers.has(digest):
	default:
		if refusal.Is(err, refusal.Unauthorized) {
			s.scrapers.forget(digest)
		}
		writeProblem(w, problem(err))
		return
	}
	s.Metrics.Handler().ServeHTTP(w, r)
}
