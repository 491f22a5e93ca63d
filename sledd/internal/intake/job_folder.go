// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// JobFolder returns what a node runs its job with, as a tar (contract/job.md).
func (in *Intake) JobFolder(ctx context.Context, address, bearer, id string) (folder []byte, renewed string,
	err error) {
	err = in.update(ctx, address, nil, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		job := tx.Job()
		if job == nil || job.ID != id || job.Run == 0 {
			return refusal.New(refusal.NotFound, "node %s has no job %s", address, id)
		}
		if !job.Cancelled.IsZero() {
			return refusal.New(refusal.Forbidden, "job %s is cancelled", id)
		}
		if len(job.SecretNames) > 0 {
			if err := tx.maySecrets(record); err != nil {
				return err
			}
		}
		renewed = in.renew(tx, record)
		tx.Status().Seen = tx.Now
		tx.startJob()
		folder, err = in.packJob(job)
		return err
	})
	return folder, renewed, err
}

func (in *Intake) packJob(job *detour.Job) ([]byte, error) {
	config, err := jobConfig(job)
	if err != nil {
		return nil, err
	}
	files := []file{{"config.json", config}}
	if len(job.Artefacts) > 0 {
		files = append(files, file{"artefacts", strings.Join(job.Artefacts, "\n") + "\n"})
	}
	if len(job.Tune) > 0 {
		files = append(files, file{"tune", strings.Join(job.Tune, "\n") + "\n"})
	}
	secrets, err := in.DB.Secrets(job)
	if err != nil {
		return nil, err
	}
	for _, name := range job.SecretNames {
		files = append(files, file{"secrets/" + name, secrets[name]})
	}
	return archive("job "+job.ID, files, job.Created)
}

// JobSignal returns the signal that the payload of a job is to get, once it is another than the given one; empty: none
// in time.
func (in *Intake) JobSignal(ctx context.Context, address, bearer, id, given string,
	wait time.Duration) (string, error) {
	wake, forget := in.Hub.Wait(address)
	defer forget()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for woken := false; ; woken = true {
		signal := ""
		err := in.update(ctx, address, nil, func(tx *nodeTx) error {
			tx.woken = woken
			if _, err := tx.authenticate(bearer, token.Boot, anyAge); err != nil {
				return err
			}
			if !woken {
				tx.Status().Seen = tx.Now
			}
			signal = tx.Job().SignalOf(id)
			return nil
		})
		if err != nil || signal != "" && signal != given {
			return signal, err
		}
		select {
		case <-wake:
		case <-timer.C:
			return "", nil
		case <-ctx.Done():
			return "", nil
		}
	}
}
