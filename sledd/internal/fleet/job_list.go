// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// keptJobs, of which most have ended.
	keptJobs = 1000
	// trimmedJobs at most in one transaction.
	trimmedJobs = 16
)

// JobFilter chooses jobs of a list. Empty fields choose all.
type JobFilter struct {
	Node  string // MAC or name
	State api.JobState
	Limit int
}

// Jobs returns jobs, the newest first.
func (f *Fleet) Jobs(ctx context.Context, filter JobFilter) (api.JobList, error) {
	list := api.JobList{Items: []api.Job{}}
	address := ""
	if filter.Node != "" {
		var err error
		if address, err = f.Resolve(ctx, filter.Node); err != nil {
			return list, err
		}
	}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Jobs), store.Prefix(key.Detours))
	if err != nil {
		return list, err
	}
	active := map[string]api.Job{}
	for _, kv := range snapshot.Results[1] {
		var found detour.Detour
		if err := nodetx.Decode(kv, &found); err != nil {
			return list, err
		}
		if found.Job != nil {
			active[found.Job.ID] = found.Job.Public()
		}
	}
	for _, kv := range slices.Backward(snapshot.Results[0]) {
		job, is := active[strings.TrimPrefix(kv.Key, key.Jobs)]
		if !is {
			if err := nodetx.Decode(kv, &job); err != nil {
				return list, err
			}
		}
		if address != "" && job.MAC != address || filter.State != "" && job.State != filter.State {
			continue
		}
		if list.Items = append(list.Items, job); len(list.Items) == filter.Limit {
			break
		}
	}
	return list, nil
}

// storedJob reads the record of a job.
func (f *Fleet) storedJob(ctx context.Context, id string) (store.KV, error) {
	snapshot, err := f.Store.Read(ctx, store.Key(key.Jobs+id))
	if err != nil {
		return store.KV{}, err
	}
	kv, found := snapshot.One(0)
	if !found {
		return kv, refusal.New(refusal.NotFound, "job %s does not exist", id)
	}
	return kv, nil
}

// Job returns one job. Until it has ended, it is that of its node.
func (f *Fleet) Job(ctx context.Context, id string) (job api.Job, err error) {
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		kv, err := f.storedJob(ctx, id)
		if err != nil {
			return err
		}
		job = api.Job{}
		if err := nodetx.Decode(kv, &job); err != nil || job.State != "" {
			return err
		}
		tx, err := f.load(ctx, job.MAC)
		if err != nil {
			return err
		}
		if tx.Job() == nil || tx.Job().ID != id {
			return store.ErrChanged // it has ended in between
		}
		job = tx.Job().Public()
		return nil
	})
	return job, err
}

// CancelJob ends a job that was not started. The payload of one that was gets SIGTERM, with a second request SIGKILL. A
// third one does not wait for the node. A payload of kind kernel gets no signal.
func (f *Fleet) CancelJob(ctx context.Context, id string) (api.Job, error) {
	var job api.Job
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		var err error
		if job, err = f.Job(ctx, id); err != nil {
			return err
		}
		if job.State.Ended() {
			return refusal.New(refusal.Conflict, "job %s is %s: there is nothing to cancel", id, job.State)
		}
		tx, err := f.load(ctx, job.MAC)
		if err != nil {
			return err
		}
		if tx.Job() == nil || tx.Job().ID != id {
			return store.ErrChanged
		}
		job = tx.cancelJob()
		_, err = f.Commit(ctx, tx.Tx)
		return err
	})
	return job, err
}

// cancelJob cancels the job of the node.
func (tx *nodeTx) cancelJob() api.Job {
	stored := tx.Job()
	if stored.State == api.JobWaiting || stored.Kill || stored.Jumped() { // nothing of Sled runs beside a payload
		ended := stored.Finish(api.JobCancelled, "cancel", api.Prose{}, tx.Now)
		ended.Cancelled = cmp.Or(ended.Cancelled, tx.Now)
		tx.EndJob(ended)
		return ended
	}
	next, job := *tx.Detour(), *stored
	job.Kill = !job.Cancelled.IsZero()
	job.Cancelled, next.Job = cmp.Or(job.Cancelled, tx.Now), &job
	tx.SetDetour(next)
	tx.AddEvent(api.Event{Kind: "job", Generation: tx.Status().Generation, Detail: api.Clean(job.ID + " is cancelled")})
	return job.Public()
}

// trimJobs deletes the oldest jobs that have ended if there are too many.
func (f *Fleet) trimJobs(ctx context.Context) error {
	query := store.Prefix(key.Jobs)
	query.KeysOnly = true
	snapshot, err := f.Store.Read(ctx, query)
	if err != nil {
		return err
	}
	surplus := len(snapshot.Results[0]) - keptJobs
	if surplus <= 0 {
		return nil
	}
	query = store.Prefix(key.Jobs)
	query.Limit = int64(min(surplus, trimmedJobs))
	if snapshot, err = f.Store.Read(ctx, query); err != nil {
		return err
	}
	var t store.Transaction
	for _, kv := range snapshot.Results[0] {
		var job api.Job
		if err := nodetx.Decode(kv, &job); err != nil {
			return err
		}
		if job.State.Ended() {
			t.Delete(kv.Key)
		}
	}
	if len(t.Do) == 0 {
		return nil
	}
	_, err = f.Store.Commit(ctx, t)
	return err
}
