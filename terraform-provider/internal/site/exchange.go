// SPDX-License-Identifier: Apache-2.0

package site

import "sync"

// Exchange is a node that gets another MAC in this run, as after a new network card. It keeps its binding.
type Exchange struct {
	From, To   string
	Generation int64 // of the binding afterwards; 0: it has none
}

// exchanges are those of a run, by either MAC.
type exchanges struct {
	mu  sync.Mutex
	all map[string]Exchange
}

// Exchange records what sled_node plans or has done, for the bindings that depend on it.
func (s *Site) Exchange(one Exchange) {
	s.exchanges.mu.Lock()
	defer s.exchanges.mu.Unlock()
	if s.exchanges.all == nil {
		s.exchanges.all = map[string]Exchange{}
	}
	s.exchanges.all[one.From] = one
}

// Exchanged returns the exchange of a MAC in this run.
func (s *Site) Exchanged(from string) (Exchange, bool) {
	s.exchanges.mu.Lock()
	defer s.exchanges.mu.Unlock()
	one, found := s.exchanges.all[from]
	return one, found
}
