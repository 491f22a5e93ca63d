// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func (o operations) store() {
	register(o, api.Read, operation("get-version", http.MethodGet, "/version", "Show the version of sledd"),
		func(context.Context, *struct{}) (*answer[api.Version], error) {
			return &answer[api.Version]{api.Version{Version: o.Version}}, nil
		})
	register(o, api.Read, operation("get-store", http.MethodGet, "/store",
		"Show the UUID of the fleet, and how full the store is"),
		func(ctx context.Context, _ *struct{}) (*answer[api.Store], error) {
			usage, err := o.usage(ctx)
			if roleOf(ctx) == api.Read {
				usage.HashKey = "" // with it, and bindings, user data can be guessed
			}
			return &answer[api.Store]{usage}, err
		})
	heal := operation("heal-store", http.MethodPost, "/store/heal",
		"Compact and defragment the store, and end the alarm NOSPACE")
	heal.Description = "Reads and writes wait meanwhile."
	heal.BodyReadTimeout = bulkTime // it takes as long
	register(o, api.Operate, heal, func(ctx context.Context, _ *struct{}) (*answer[api.Store], error) {
		if err := o.Capacity.Heal(ctx); err != nil {
			return nil, err
		}
		usage, err := o.usage(ctx)
		return &answer[api.Store]{usage}, err
	})
}

func (s *Server) usage(ctx context.Context) (api.Store, error) {
	identity, err := s.Fleet.Identity(ctx)
	if err != nil {
		return api.Store{}, err
	}
	hashKey, err := s.Fleet.HashKey(ctx)
	if err != nil {
		return api.Store{}, err
	}
	usage, err := s.Capacity.Usage(ctx)
	return api.Store{Fleet: identity, HashKey: hashKey, Bytes: usage.Bytes, InUse: usage.InUse, Quota: usage.Quota,
		Alarms: append([]string{}, usage.Alarms...), Refused: s.Capacity.Refused()}, err
}

const (
	// probeTime bounds one probe of the store.
	probeTime = time.Second
	// probeLife is how long its result holds: anybody may ask, and each probe is a write. It ends early when another
	// write finds the store full, because sledd may heal the store within this time.
	probeLife = time.Second
)

// probe is the last write that asked whether the store takes one.
type probe struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// ready answers whether sledd can do its work: whether the store can be written.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	if time.Since(s.probe.at) > probeLife || s.Capacity.FullSince(s.probe.at) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), probeTime)
		s.probe.err = s.Fleet.Probe(ctx)
		s.probe.at = time.Now()
		cancel()
	}
	if s.probe.err != nil {
		writeProblem(w, problem(s.probe.err))
		return
	}
	s.healthy(w, r)
}
