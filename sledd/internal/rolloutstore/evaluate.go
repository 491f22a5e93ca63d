// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"context"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// evaluations keep hundreds of concurrent reports on one rollout from each reading all of it: those
// that arrive during a reading share the next one, which sees what all of them wrote.
type evaluations struct {
	mu   sync.Mutex
	next map[string]*evaluation // by rollout: the evaluation that has not started
	turn map[string]*sync.Mutex
}

// evaluation is one reading of a rollout, shared by several callers.
type evaluation struct {
	done  chan struct{}
	shown api.Rollout
	err   error
}

// join returns the next evaluation of a rollout, and whether the caller has to run it.
func (e *evaluations) join(name string) (*evaluation, *sync.Mutex, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == nil {
		e.next, e.turn = map[string]*evaluation{}, map[string]*sync.Mutex{}
	}
	if e.turn[name] == nil {
		e.turn[name] = &sync.Mutex{}
	}
	if waiting := e.next[name]; waiting != nil {
		return waiting, nil, false
	}
	e.next[name] = &evaluation{done: make(chan struct{})}
	return e.next[name], e.turn[name], true
}

// begin makes later callers wait for another evaluation.
func (e *evaluations) begin(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.next, name)
}

// evaluate updates the stored state of a rollout from its runs, and returns it with them.
func (rs *Rollouts) evaluate(ctx context.Context, name string) (api.Rollout, error) {
	mine, turn, first := rs.evaluations.join(name)
	if first {
		go func() {
			turn.Lock()
			defer turn.Unlock()
			rs.evaluations.begin(name)
			mine.shown, mine.err = rs.readAndJudge(context.WithoutCancel(ctx), name) // not only for the first caller
			close(mine.done)
		}()
	}
	select {
	case <-mine.done:
		return mine.shown, mine.err
	case <-ctx.Done():
		return api.Rollout{}, &store.UnavailableError{Operation: "judge rollout " + name, Err: ctx.Err()}
	}
}

// readAndJudge reads a rollout and writes its state if its runs change it.
func (rs *Rollouts) readAndJudge(ctx context.Context, name string) (api.Rollout, error) {
	var shown api.Rollout
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		r, runs, err := rs.rollout(ctx, name)
		if err != nil {
			return err
		}
		changed, err := r.judge(r.with(runs))
		if err != nil {
			return err
		}
		if changed {
			if err := rs.keep(ctx, r); err != nil {
				return err
			}
		}
		shown = rs.show(r, runs)
		return nil
	})
	return shown, err
}

// keep writes a rollout, if nobody else did since it was read.
func (rs *Rollouts) keep(ctx context.Context, r *storedRollout) error {
	var t store.Transaction
	t.Unchanged(key.Rollouts+r.Name, r.revision)
	t.Put(key.Rollouts+r.Name, nodetx.Encode(r))
	_, err := rs.Store.Commit(ctx, t)
	return err
}
