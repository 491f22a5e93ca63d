// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// judges keep hundreds who say something of the same rollout at once from each reading all of it: those who come while it is read are
// answered together by the next look, which sees what all of them wrote.
type judges struct {
	mu   sync.Mutex
	next map[string]*evaluation // by rollout: the look that has not begun
	turn map[string]*sync.Mutex
}

// evaluation is one reading of a rollout for several who wait.
type evaluation struct {
	done  chan struct{}
	shown api.Rollout
	err   error
}

// join gives the next look at a rollout, and whether whoever asks is to do it.
func (j *judges) join(name string) (*evaluation, *sync.Mutex, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil {
		j.next, j.turn = map[string]*evaluation{}, map[string]*sync.Mutex{}
	}
	if j.turn[name] == nil {
		j.turn[name] = &sync.Mutex{}
	}
	if waiting := j.next[name]; waiting != nil {
		return waiting, nil, false
	}
	j.next[name] = &evaluation{done: make(chan struct{})}
	return j.next[name], j.turn[name], true
}

// begin says that who comes now has to wait for another look.
func (j *judges) begin(name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.next, name)
}

// evaluate brings the stored state of a rollout to what its nodes became, and gives it with them.
func (rs *Rollouts) evaluate(ctx context.Context, name string) (api.Rollout, error) {
	mine, turn, first := rs.judges.join(name)
	if first {
		go func() {
			turn.Lock()
			defer turn.Unlock()
			rs.judges.begin(name)
			mine.shown, mine.err = rs.judge(context.WithoutCancel(ctx), name) // it is not only for whoever came first
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

// judge reads a rollout and writes its state, if what its nodes became changes that.
func (rs *Rollouts) judge(ctx context.Context, name string) (api.Rollout, error) {
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
		shown = r.with(runs)
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
