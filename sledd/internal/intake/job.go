// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"cmp"
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
	case job.Jumped():
		tx.payloadCameBack()
	case job.State == api.JobRunning:
		tx.EndJob(job.Finish(api.JobLost, "node", nodetext.Clean("the node restarted while the payload ran"), tx.Now))
	case !job.KernelUp.IsZero():
		tx.EndJob(job.Finish(api.JobLost, "node", nodetext.Clean("the node left kernel "+job.Kernel+
			" before the payload ran"), tx.Now))
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
	if len(job.SecretNames) > 0 {
		if why := tx.withheld(record); why != "" {
			tx.jobWaits("its secrets are withheld: " + why)
			return false, tx.rights(record).Until, nil
		}
	}
	image, kernel, missing, err := in.jobImages(ctx, job)
	if err != nil {
		return false, time.Time{}, err
	}
	if missing != "" {
		tx.jobWaits("image " + missing + " is not registered")
		return false, tx.Now.Add(imagePause), nil
	}
	facts, _ := tx.seenIn(tx.bootOf(record.Claim))
	err = detour.CheckImage(job.Job, *image, tx.Spec())
	if err == nil && kernel != nil {
		err = detour.CheckKernel(job.JobSpec, *kernel, tx.Spec(), facts)
	}
	if err != nil {
		tx.EndJob(job.Finish(api.JobFailed, "sled", nodetext.Clean(err.Error()), tx.Now))
		return true, time.Time{}, nil
	}
	if !job.Left.IsZero() && facts == nil {
		return false, time.Time{}, nil // they are sent again with each poll
	}
	if why := tx.notUp(facts); why != "" {
		tx.EndJob(job.Finish(api.JobLost, "node", nodetext.Clean(why), tx.Now))
		return true, time.Time{}, nil
	}
	tx.changeJob(func(job *detour.Job) {
		job.Source, job.Digest, job.Reason = image, image.Digest, api.Prose{}
		job.On = kernel
		if !job.Left.IsZero() && job.KernelUp.IsZero() {
			job.Before, job.KernelUp = job.Release, tx.Now
		}
		job.Upload = in.UploadURL + "/jobs/" + job.ID
		if facts != nil {
			job.Release = facts.Kernel["release"].String()
		}
	})
	return true, time.Time{}, nil
}

// jobWaits notes why the job waits, unless that is noted: what nothing has changed is not written.
func (tx *nodeTx) jobWaits(why string) {
	if reason := nodetext.Clean(why); tx.Job().Reason != reason {
		tx.changeJob(func(job *detour.Job) { job.Reason = reason })
	}
}

// startJob notes that the payload is started. The node may have its configuration before its begin has arrived.
func (tx *nodeTx) startJob() {
	if tx.Job().State == api.JobRunning {
		return
	}
	tx.changeJob(func(job *detour.Job) { job.State, job.Started = api.JobRunning, tx.Now })
	tx.AddJobEvent(tx.Job().Job)
}

// jobImages returns the image and the kernel of a job, if it names one; missing is the one that is not registered.
func (in *Intake) jobImages(ctx context.Context, job *detour.Job) (image, kernel *api.ImageSpec, missing string,
	err error) {
	missing = job.Image
	found, err := in.DB.Image(ctx, missing)
	image = &found.ImageSpec
	if err == nil && job.Kernel != "" {
		missing = job.Kernel
		var on api.Image
		on, err = in.DB.Image(ctx, missing)
		kernel = &on.ImageSpec
	}
	if refusal.Is(err, refusal.NotFound) {
		return nil, nil, missing, nil
	}
	return image, kernel, "", err
}

// notUp returns why a node that has left to start the kernel of its job does not run it; empty: it does, or has not
// left.
func (tx *nodeTx) notUp(facts *api.Facts) string {
	job := tx.Job()
	if job.Left.IsZero() || !job.KernelUp.IsZero() {
		return ""
	}
	switch release := facts.Kernel["release"].String(); {
	case !tx.returned():
		return "kernel " + job.Kernel + " did not start: the node came with kernel " + release + " through its firmware" +
			tx.wordsBeforeReset(job.Left)
	case release != job.On.Kernel.Release:
		return "the node runs kernel " + release + ", and not " + job.On.Kernel.Release + " of image " + job.Kernel
	}
	return ""
}

// issuedJob notes that the node has the plan of its job.
func (tx *nodeTx) issuedJob(run int64) {
	again := tx.Job().State == api.JobPreparing
	tx.changeJob(func(job *detour.Job) {
		job.Run, job.State = run, api.JobPreparing
		if payload := job.Payload(); payload != nil {
			job.Confirm = cmp.Or(payload.Confirm, api.ConfirmNone)
		}
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
	last := line.Verb == "run" || line.Verb == "start" && tx.Status().Run.Detour == detour.OfJob &&
		(!tx.ofJob(sent) || tx.Job().Payload() != nil)
	if line.Kind != report.Begin || !last || tx.ofJob(sent) && tx.Job().Cancelled.IsZero() {
		return nil
	}
	return refusal.New(refusal.Forbidden, "the job of run %d was cancelled, or has ended: it is not started", sent.Run)
}

// applyJobLine applies a report line of a plan of a job.
func (tx *nodeTx) applyJobLine(line report.Line) {
	switch {
	case line.Verb == "start" && tx.Job().Payload() != nil:
		tx.applyPayloadLine(line)
	case line.Kind == report.End && line.Verb == "start" && line.Code == 0:
		tx.changeJob(func(job *detour.Job) { job.Left = tx.Now })
	case line.Kind == report.End && detour.Last(line):
		tx.Status().Progress = nil
		if line.Verb != "run" && tx.Job().KernelUp.IsZero() { // nothing of the job was started
			tx.Status().Run.Used = false
		}
		tx.EndJob(tx.Job().End(line, tx.missing, tx.Now))
	case line.Kind == report.Begin && line.Verb == "run":
		tx.Status().Progress = nil
		tx.startJob()
	case line.Kind == report.Begin:
		tx.Status().Progress, tx.Status().Moved = nil, tx.Now
	}
}
