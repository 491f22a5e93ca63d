// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"context"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// silence of the runner after which nobody follows a rollout.
	silence = time.Minute
	// notePause is the least time between two records of requests of a runner.
	notePause = 10 * time.Second
	// runner stands for a MAC in the key of the record of when the runner was seen. It has no node.
	runner = "runner"
)

// followed is when this sledd last recorded that a rollout was followed, by its name.
type followed struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether it is to be recorded again, and remembers that it is.
func (f *followed) due(name string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.last[name]) < notePause {
		return false
	}
	for other, at := range f.last {
		if now.Sub(at) >= silence {
			delete(f.last, other)
		}
	}
	if f.last == nil {
		f.last = map[string]time.Time{}
	}
	f.last[name] = now
	return true
}

// Follow records that the runner of a rollout lives, if the rollout has not ended. It is called for each request of the
// runner, and seldom does anything.
func (rs *Rollouts) Follow(ctx context.Context, name string) error {
	now := rs.Now()
	if !rs.followed.due(name, now) {
		return nil
	}
	snapshot, err := rs.Store.Read(ctx, store.Key(key.Rollouts+name))
	if err != nil {
		return err
	}
	kv, found := snapshot.One(0)
	if !found {
		return nil
	}
	r, err := readRollout(kv)
	if err != nil || !r.unfinished() {
		return err
	}
	var t store.Transaction
	t.Unchanged(kv.Key, kv.Revision) // else the record could outlive the rollout
	t.Put(key.RunsOf(name)+runner, nodetx.Encode(storedRun{Seen: now}))
	_, err = rs.Store.Commit(ctx, t)
	return err
}

// show returns a rollout as it stands now, with its nodes.
func (rs *Rollouts) show(r *storedRollout, runs map[string]storedRun) api.Rollout {
	shown := r.with(runs)
	if quiet := rs.Now().Sub(shown.Seen); shown.State == api.RolloutRunning && quiet >= silence {
		shown.Silent = int(quiet.Seconds())
	}
	return shown
}
