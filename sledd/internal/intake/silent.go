// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// shortestSilence ends a job at the earliest: its node sends its last reports again while no sledd answers.
	shortestSilence = 5 * time.Minute
	// lastLines of it are in the reason of a job.
	lastLines = 4
)

// EndSilent ends the jobs of nodes that are silent for so long that they do not come back.
func (in *Intake) EndSilent(ctx context.Context) error {
	snapshot, err := in.DB.Store.Read(ctx, store.Prefix(key.Detours))
	if err != nil {
		return err
	}
	for _, kv := range snapshot.Results[0] {
		var found detour.Detour
		if err := nodetx.Decode(kv, &found); err != nil {
			return err
		}
		if found.Job == nil || found.Job.State == api.JobWaiting {
			continue
		}
		err = errors.Join(err, in.update(ctx, strings.TrimPrefix(kv.Key, key.Detours), nil, func(tx *nodeTx) error {
			tx.endSilent()
			return nil
		}))
	}
	return err
}

// endSilent ends the job of the node if it is silent for too long.
func (tx *nodeTx) endSilent() {
	job := tx.Job()
	if job == nil || job.State == api.JobWaiting || job.Jumped() {
		return
	}
	limit := silence(job)
	if tx.Now.Sub(tx.Status().Seen) < limit {
		return
	}
	tx.Status().Progress = nil
	if !job.Cancelled.IsZero() {
		tx.EndJob(job.Finish(api.JobCancelled, "cancel", api.Prose{}, tx.Now))
		return
	}
	why := fmt.Sprintf("the node was silent for %s", limit)
	switch {
	case !job.Left.IsZero() && job.KernelUp.IsZero():
		why = fmt.Sprintf("kernel %s of image %s did not come up within %s after kernel %s", job.On.Kernel.Release,
			job.Kernel, limit, job.Release)
	case job.Release != "":
		why += " on kernel " + job.Release
	}
	tx.EndJob(job.Finish(api.JobLost, "node", nodetext.Clean(why+tx.lastWords(tx.Now)), tx.Now))
}

// silence is for how long the node of a job may be silent. From its last word on, a payload runs for its timeout and
// grace at most; before, the node may start through its firmware.
func silence(job *detour.Job) time.Duration {
	if job.State == api.JobPreparing {
		return api.Starting.Limit()
	}
	return max(shortestSilence, time.Duration(job.Timeout+job.Grace)*time.Second)
}

// lastWords returns the last lines that the node's console had at a time, without claim codes, for the end of a reason;
// empty: there are none, or it is not recorded.
func (tx *nodeTx) lastWords(until time.Time) string {
	text, err := tx.in.Consoles.Tail(tx.MAC, consoleBytes)
	if err != nil {
		return ""
	}
	var last []string
	for line := range strings.Lines(nodetext.RawOf(text).String()) {
		stamp, printed, _ := strings.Cut(line, " ")
		if at, err := time.Parse(time.RFC3339, stamp); err == nil && at.After(until) {
			break
		}
		printed = strings.TrimSpace(printed)
		if printed != "" && !strings.Contains(printed, "sled: claim ") {
			last = append(last, printed)
		}
	}
	if len(last) == 0 {
		return ""
	}
	return "; its console ends: " + strings.Join(last[max(0, len(last)-lastLines):], " | ")
}

// wordsBeforeReset are those before the machine was reset, if that was announced since some time.
func (tx *nodeTx) wordsBeforeReset(since time.Time) string {
	if reset := tx.Admission().Reset; reset.After(since) {
		return tx.lastWords(reset)
	}
	return ""
}
