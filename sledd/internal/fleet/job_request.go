// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

const (
	// waitingSince is how long ago a node that waits in the Sled system has polled at the latest.
	waitingSince = 3 * time.Minute
	// walked nodes are read at once.
	walked = 1000
)

// newJobID returns an id that sorts by time: 35 bits of seconds, 25 random ones.
func newJobID(now time.Time) string {
	var bits [8]byte
	_, _ = rand.Read(bits[4:])          // never fails
	seconds := uint64(now.Unix()) << 29 //nolint:gosec // after 1970
	binary.BigEndian.PutUint64(bits[:], seconds|uint64(binary.BigEndian.Uint32(bits[4:]))&(1<<29-1))
	return strings.ToLower(base32.HexEncoding.EncodeToString(bits[:]))[:12]
}

// CreateJob requests a job, of a node or of one that waits.
func (f *Fleet) CreateJob(ctx context.Context, spec api.JobSpec) (api.Job, error) {
	if err := checkJob(spec); err != nil {
		return api.Job{}, err
	}
	sender := origin.Of(ctx)
	job := detour.Job{Job: api.Job{JobSpec: spec, State: api.JobWaiting, Created: f.Now(), Actor: sender.Actor,
		Via: sender.Via, SecretNames: slices.Sorted(maps.Keys(spec.Secrets))}}
	job.ID = newJobID(job.Created)
	job.Timeout, job.Grace = cmp.Or(spec.Timeout, 3600), cmp.Or(spec.Grace, 10)
	job.After = cmp.Or(spec.After, api.AfterReturn)
	f.SealSecrets(&job)
	if spec.Node == "" {
		return f.placeJob(ctx, job)
	}
	address, err := f.Resolve(ctx, spec.Node)
	if err != nil {
		return api.Job{}, err
	}
	return f.putJob(ctx, address, job, (*nodeTx).mayHaveJob)
}

// putJob makes a job the detour of a node, unless that is refused.
func (f *Fleet) putJob(ctx context.Context, address string, job detour.Job,
	may func(tx *nodeTx, job api.JobSpec) error) (api.Job, error) {
	err := f.Update(ctx, address, []nodetx.Want{nodetx.Image(job.Image), nodetx.Facts}, func(unit *nodetx.Tx) error {
		tx := &nodeTx{Tx: unit, fleet: f}
		if err := may(tx, job.JobSpec); err != nil {
			return err
		}
		if err := tx.checkJobImages(ctx, job.Job); err != nil {
			return err
		}
		job.MAC, job.Node = tx.MAC, tx.Node().Name
		next := job
		tx.SetDetour(detour.Detour{Job: &next})
		tx.Writes.Unchanged(key.Jobs+job.ID, 0)
		tx.Writes.Put(key.Jobs+job.ID, nodetx.Encode(nodetx.ActiveJob{MAC: tx.MAC}))
		tx.AddJobEvent(job.Job)
		return nil
	})
	if err != nil {
		return api.Job{}, err
	}
	return job.Public(), f.trimJobs(ctx)
}

// placeJob takes a node with the labels that waits. Which of them is left to chance, so that many jobs do not compete
// for the first.
func (f *Fleet) placeJob(ctx context.Context, job detour.Job) (api.Job, error) {
	var waiting []string
	labelled := 0
	_, err := f.Walk(ctx, "", walked, func(row *nodetx.Tx) bool {
		if row.Node() == nil || !(Filter{Labels: job.Labels}).takes(row) {
			return true
		}
		labelled++
		if (&nodeTx{Tx: row, fleet: f}).waits(job.JobSpec) == nil {
			waiting = append(waiting, row.MAC)
		}
		return true
	})
	if err != nil {
		return api.Job{}, err
	}
	mathrand.Shuffle(len(waiting), func(i, j int) { //nolint:gosec // no secret
		waiting[i], waiting[j] = waiting[j], waiting[i]
	})
	for _, address := range waiting {
		placed, err := f.putJob(ctx, address, job, (*nodeTx).waits)
		if !refusal.Is(err, refusal.Conflict) && !refusal.Is(err, refusal.NotFound) {
			return placed, err
		}
	}
	return api.Job{}, refusal.New(refusal.Conflict, "none of the %d nodes with these labels waits in the Sled system: "+
		"power one on, or name one", labelled)
}

// waits refuses a job on a node that does not wait in the Sled system for whatever comes.
func (tx *nodeTx) waits(spec api.JobSpec) error {
	status := tx.Status()
	if status.Phase != api.Idle && status.Phase != api.Wiped || status.Run.Payload ||
		tx.Now.Sub(status.Seen) > waitingSince || tx.Binding() != nil && !tx.Satisfied() {
		return refusal.New(refusal.Conflict, "node %s does not wait", tx.NameOr(tx.MAC))
	}
	for name, value := range spec.Labels {
		if tx.Spec().Labels[name] != value {
			return refusal.New(refusal.Conflict, "node %s has not the label %s=%s", tx.NameOr(tx.MAC), name, value)
		}
	}
	return tx.mayHaveJob(spec)
}

// mayHaveJob refuses a job on a node that does something else, or would lose a system that runs.
func (tx *nodeTx) mayHaveJob(spec api.JobSpec) error {
	name, phase := tx.NameOr(spec.Node), tx.Status().Phase
	switch {
	case tx.Node() == nil:
		return refusal.New(refusal.NotFound, "node %s is not declared: declare it before it gets a job", spec.Node)
	case tx.Detour() != nil:
		return refusal.New(refusal.Conflict, "node %s is %s: end that first", name, tx.Detour().State())
	case tx.HandsOver() || !tx.Admission().HandedOver.IsZero():
		return refusal.New(refusal.Conflict, "node %s changes hands (generation %d): wait until that is completed", name,
			tx.Generation())
	case phase.Working() || phase == api.Starting:
		return refusal.New(refusal.Conflict, "node %s is %s image %s: wait for its end", name, phase,
			cmp.Or(bound(tx.Tx), "none"))
	case (phase.Installed() || phase == api.Captured) && !spec.Interrupt:
		return refusal.New(refusal.Conflict, "node %s is %s with image %s: a job ends that system, %s; request that with "+
			"interrupt", name, phase, cmp.Or(tx.Status().Image, bound(tx.Tx), "unknown"), tx.afterJob())
	}
	return nil
}

// afterJob describes what a node does whose system was interrupted by a job.
func (tx *nodeTx) afterJob() string {
	if tx.Binding() == nil || tx.Satisfied() {
		return "which boots again afterwards"
	}
	return fmt.Sprintf("and its binding (generation %d) is carried out afterwards", tx.Generation())
}

// bound is the image that the node is bound to; empty: none.
func bound(tx *nodetx.Tx) string {
	if tx.Binding() == nil {
		return ""
	}
	return named(tx.Binding().BindingSpec)
}

// checkJobImages refuses an image that the node cannot run. One that is not registered is waited for.
func (tx *nodeTx) checkJobImages(ctx context.Context, spec api.Job) error {
	if image := tx.Image(); image != nil {
		if err := detour.CheckImage(spec, image.ImageSpec, tx.Spec()); err != nil {
			return refusal.Value("body.image", spec.Image, err)
		}
		if err := cmp.Or(tx.checkMachine(image), tx.checkConsole(image)); err != nil && image.Payload != nil {
			return err
		}
	}
	if spec.Kernel == "" {
		return nil
	}
	kernel, err := tx.fleet.Image(ctx, spec.Kernel)
	if refusal.Is(err, refusal.NotFound) {
		return nil
	}
	if err == nil {
		if err = detour.CheckKernel(spec.JobSpec, kernel.ImageSpec, tx.Spec(), tx.Facts()); err != nil {
			err = refusal.Value("body.kernel", spec.Kernel, err)
		}
	}
	return err //nolint:wrapcheck // complete
}
