// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"reflect"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// PutEnergy stores what a node drew during a job. The same may be put again, as after a response that was lost.
func (f *Fleet) PutEnergy(ctx context.Context, id string, energy api.Energy) (job api.Job, err error) {
	if err := checkEnergy(energy); err != nil {
		return api.Job{}, err
	}
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		kv, err := f.storedJob(ctx, id)
		if err != nil {
			return err
		}
		if job, err = f.Job(ctx, id); err != nil {
			return err
		}
		actor := origin.Of(ctx).Actor
		switch {
		case job.Actor != actor:
			return refusal.New(refusal.Forbidden, "job %s was requested by %s: only they may store its energy", id, job.Actor)
		case !job.State.Ended():
			return refusal.New(refusal.Conflict, "job %s is %s: its energy is stored after its end", id, job.State)
		case job.Energy != nil && reflect.DeepEqual(*job.Energy, energy):
			return nil
		case job.Energy != nil:
			return refusal.New(refusal.Conflict, "the energy of job %s is stored already, of %s", id, job.Energy.Source.String())
		}
		job.Energy = &energy
		var t store.Transaction
		t.Unchanged(kv.Key, kv.Revision)
		t.Put(kv.Key, nodetx.Encode(job))
		_, err = f.Store.Commit(ctx, t)
		return err
	})
	return job, err
}

// checkEnergy refuses what no readings can mean.
func checkEnergy(e api.Energy) error {
	band := e.Least != nil && e.Most != nil
	switch {
	case (e.Least == nil) != (e.Most == nil) || band && *e.Least > *e.Most:
		return refusal.Value("body.most", e.Most, errors.New("want least and most, or neither, and least first"))
	case e.Joules != nil && (!band || *e.Joules < *e.Least || *e.Joules > *e.Most):
		return refusal.Value("body.joules", *e.Joules, errors.New("want a figure from least to most"))
	case (e.Joules == nil) == e.Reason.IsZero():
		return refusal.Value("body.reason", nil, errors.New("want a reason without a figure, and none with one"))
	}
	return nil
}
