// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
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
	// mostWords is the size of entry point, command and environment together, in bytes, and that of all secrets.
	mostWords, mostSecrets = 8 << 10, 4 << 10
)

var (
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	secretName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
)

// checkJob refuses what no node could run.
func checkJob(spec api.JobSpec) error {
	if (spec.Node == "") == (len(spec.Labels) == 0) {
		return refusal.Value("body.node", spec.Node, errors.New("name a node, or the labels of one that waits, not both"))
	}
	if err := checkLabels(spec.Labels); err != nil {
		return err
	}
	words := slices.Concat(spec.Entrypoint, spec.Command, spec.Environment)
	size := 0
	for _, word := range words {
		if size += len(word); strings.ContainsRune(word, 0) {
			return refusal.Value("body.command", nil, errors.New("a word holds a NUL byte, which no program can get"))
		}
	}
	if size > mostWords {
		return refusal.Value("body.command", nil, fmt.Errorf("entry point, command and environment have %d bytes, at most "+
			"%d are allowed: put them into a file of the image or a secret", size, mostWords))
	}
	for i, one := range spec.Environment {
		if !variable.MatchString(one) {
			return refusal.Value(fmt.Sprintf("body.environment[%d]", i), nil, errors.New("want NAME=VALUE"))
		}
	}
	for i, one := range spec.Artefacts {
		if !path.IsAbs(one) || path.Clean(one) != one || one == "/" || strings.ContainsFunc(one, isControl) {
			return refusal.Value(fmt.Sprintf("body.artefacts[%d]", i), one, errors.New(
				"want an absolute path below /, without . and .. in it"))
		}
	}
	return checkSecrets(spec.Secrets)
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// checkSecrets does not repeat what they are.
func checkSecrets(secrets map[string]string) error {
	size := 0
	for name, value := range secrets {
		if !secretName.MatchString(name) {
			return refusal.Value("body.secrets", name, errors.New("the name of a secret is that of its file: want A-Z a-z "+
				"0-9 _ . -, not . first, at most 64"))
		}
		size += len(value)
	}
	if size > mostSecrets {
		return refusal.Value("body.secrets", nil, fmt.Errorf("the secrets have %d bytes, at most %d are allowed", size,
			mostSecrets))
	}
	return nil
}

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

// Job returns one job. Until it has ended, it is that of its node.
func (f *Fleet) Job(ctx context.Context, id string) (job api.Job, err error) {
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Jobs+id))
		if err != nil {
			return err
		}
		kv, found := snapshot.One(0)
		if !found {
			return refusal.New(refusal.NotFound, "job %s does not exist", id)
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
// third one does not wait for the node.
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
	if stored.State == api.JobWaiting || stored.Kill {
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
