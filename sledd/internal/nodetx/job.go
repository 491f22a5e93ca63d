// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"encoding/json"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// ActiveJob is what is stored under the id of a job until it has ended: which node has it.
type ActiveJob struct {
	MAC string `json:"mac"`
}

// Job returns the job that the node has; nil: it has none.
func (tx *Tx) Job() *detour.Job {
	if tx.Detour() == nil {
		return nil
	}
	return tx.Detour().Job
}

// EndJob ends the job of the node. What is shown of it is kept.
func (tx *Tx) EndJob(ended api.Job) {
	left := *tx.Detour()
	left.Job = nil
	tx.SetTokens(token.Without(tx.Tokens(), token.Payload))
	tx.Writes.Put(key.Jobs+ended.ID, Encode(ended))
	tx.SetDetour(left)
	tx.AddJobEvent(ended)
}

// AddJobEvent adds the event that a job has another state.
func (tx *Tx) AddJobEvent(job api.Job) {
	tx.AddEvent(api.Event{Kind: "job", Generation: tx.Status().Generation, Detail: nodetext.Clean(detour.Text(job))})
}

// SealSecrets replaces the secrets of a job by a sealed text, if there is a key.
func (db *DB) SealSecrets(job *detour.Job) {
	if db.Box == nil || len(job.Secrets) == 0 {
		return
	}
	job.Sealed = db.Box.Seal(string(Encode(job.Secrets)), job.ID)
	job.Secrets = nil
}

// Secrets returns the secrets of a job.
func (db *DB) Secrets(job *detour.Job) (map[string]string, error) {
	if job.Sealed == "" {
		return job.Secrets, nil
	}
	text, err := db.Box.Open(job.Sealed, job.ID)
	if err != nil {
		return nil, fmt.Errorf("secrets of job %s: %w", job.ID, err)
	}
	var secrets map[string]string
	err = json.Unmarshal([]byte(text), &secrets)
	return secrets, err //nolint:wrapcheck // our own text
}
