// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// imagePause is the time between two looks whether the image of a job is registered.
const imagePause = 5 * time.Second

// changeJob replaces the job of the node.
func (tx *nodeTx) changeJob(change func(job *detour.Job)) {
	next := *tx.Detour()
	job := *next.Job
	change(&job)
	next.Job = &job
	tx.SetDetour(next)
}

// restartedJob ends the job of a node that has restarted, unless the payload was not started: it is started once.
func (tx *nodeTx) restartedJob() {
	job := tx.Job()
	switch {
	case job == nil:
	case !job.Cancelled.IsZero():
		tx.EndJob(job.Finish(api.JobCancelled, "cancel", api.Prose{}, tx.Now))
	case job.State == api.JobRunning:
		tx.EndJob(job.Finish(api.JobLost, "node", nodetext.Clean("the node restarted while the payload ran"), tx.Now))
	}
}

// leftJob ends a cancelled job once its node has a later plan. The end of the payload was not reported.
func (tx *nodeTx) leftJob(run int64) {
	if job := tx.Job(); job != nil && !job.Cancelled.IsZero() && run > job.Run {
		tx.EndJob(job.Finish(api.JobCancelled, "cancel", api.Prose{}, tx.Now))
	}
}

// readyJob completes a job of which the node is to get the plan. It returns false if the job waits, and until when it
// is checked again.
func (in *Intake) readyJob(ctx context.Context, tx *nodeTx, given int64,
	record *token.Record) (ready bool, until time.Time, err error) {
	tx.leftJob(given)
	job := tx.Job()
	if job == nil || tx.Detour().Rescue != nil || !job.Cancelled.IsZero() || job.State == api.JobRunning ||
		given != None && given == job.Run {
		return true, time.Time{}, nil
	}
	if len(job.SecretNames) > 0 && tx.withheld(record) != "" {
		return false, tx.rights(record).Until, nil
	}
	image, err := in.DB.Image(ctx, job.Image)
	if refusal.Is(err, refusal.NotFound) {
		reason := nodetext.Clean("image " + job.Image + " is not registered")
		if job.Reason != reason {
			tx.changeJob(func(job *detour.Job) { job.Reason = reason })
		}
		return false, tx.Now.Add(imagePause), nil
	}
	if err != nil {
		return false, time.Time{}, err
	}
	if err := detour.CheckImage(job.JobSpec, image.ImageSpec, tx.Spec()); err != nil {
		tx.EndJob(job.Finish(api.JobFailed, "sled", nodetext.Clean(err.Error()), tx.Now))
		return true, time.Time{}, nil
	}
	tx.changeJob(func(job *detour.Job) {
		job.Source, job.Digest, job.Reason = &image.ImageSpec, image.Digest, api.Prose{}
		job.Upload = in.UploadURL + "/jobs/" + job.ID
	})
	return true, time.Time{}, nil
}

// issuedJob notes that the node has the plan of its job.
func (tx *nodeTx) issuedJob(run int64) {
	again := tx.Job().State == api.JobPreparing
	tx.changeJob(func(job *detour.Job) {
		job.Run, job.State = run, api.JobPreparing
		if job.Prepared.IsZero() {
			job.Prepared = tx.Now
		}
		if incumbent := tx.Admission().Incumbent; incumbent != nil {
			job.Level = incumbent.Level.String()
		}
	})
	if !again {
		tx.AddJobEvent(tx.Job().Job)
	}
}

// ofJob reports whether a report is of the plan of the node's job.
func (tx *nodeTx) ofJob(sent report.Report) bool { return tx.Job() != nil && tx.Job().Run == sent.Run }

// mayRun refuses that a payload is started of a job that was cancelled.
func (tx *nodeTx) mayRun(sent report.Report, line report.Line) error {
	if line.Kind != report.Begin || line.Verb != "run" || tx.ofJob(sent) && tx.Job().Cancelled.IsZero() {
		return nil
	}
	return refusal.New(refusal.Forbidden, "the job of run %d was cancelled, or has ended: it is not started", sent.Run)
}

// applyJobLine applies a report line of a plan of a job.
func (tx *nodeTx) applyJobLine(line report.Line) {
	switch {
	case line.Kind == report.End && detour.Last(line):
		tx.Status().Progress = nil
		tx.EndJob(tx.Job().End(line, tx.missing, tx.Now))
	case line.Kind == report.Begin && line.Verb == "run":
		tx.Status().Progress = nil
		tx.changeJob(func(job *detour.Job) { job.State, job.Started = api.JobRunning, tx.Now })
		tx.AddJobEvent(tx.Job().Job)
	case line.Kind == report.Begin:
		tx.Status().Progress, tx.Status().Moved = nil, tx.Now
	}
}
