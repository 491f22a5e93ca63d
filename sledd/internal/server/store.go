// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

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
	o.backup()
	type release struct {
		DryRun
		Body api.ReleaseSpec
	}
	op := dry(operation("release-nodes", http.MethodPost, "/store/release",
		"Let nodes follow their bindings on disks that are ahead of the store"))
	op.Description = "Ends their hold after the store was restored. The answer is what they do next."
	op.MaxBodyBytes, op.BodyReadTimeout = bulkBody, bulkTime
	register(o, api.Operate, op, func(ctx context.Context, in *release) (*answer[api.OutlookList], error) {
		list, err := o.fleet(in.Dry).Release(ctx, in.Body)
		return &answer[api.OutlookList]{list}, err
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

func (o operations) backup() {
	op := operation("backup-store", http.MethodGet, "/store/backup", "Read a snapshot of the store")
	op.Description = "All that is stored. A client that gets less than all of it sees that the transfer was cut off."
	op.Responses = map[string]*huma.Response{"200": {Description: "a snapshot of etcd, with its SHA-256 at the end",
		Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString,
			Format: "binary"}}}}}
	register(o, api.Admin, op, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		//nolint:contextcheck // the request has a context without the deadline of other answers
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			request, writer := humago.Unwrap(ctx)
			_ = http.NewResponseController(writer).SetWriteDeadline(time.Time{})
			snapshot, err := o.Backup(request.Context())
			if err != nil {
				writeProblem(writer, problem(err))
				return
			}
			defer func() { _ = snapshot.Close() }()
			writer.Header().Set("Content-Type", "application/octet-stream")
			if _, err := io.Copy(writer, snapshot); err != nil {
				panic(http.ErrAbortHandler)
			}
			if err := o.Fleet.NoteBackup(request.Context()); err != nil { // the backup is good nevertheless
				o.Log.Error("the time of the backup is not stored", "error", err)
			}
		}}, nil
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
	backup, err := s.Fleet.NewestBackup(ctx)
	if err != nil {
		return api.Store{}, err
	}
	usage, err := s.Capacity.Usage(ctx)
	return api.Store{Fleet: identity, HashKey: hashKey, Backup: backup, Bytes: usage.Bytes, InUse: usage.InUse,
		Quota: usage.Quota, Alarms: append([]string{}, usage.Alarms...), Refused: s.Capacity.Refused()}, err
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
