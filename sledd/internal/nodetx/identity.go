// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Identity of the fleet, as stored.
type Identity struct {
	UUID    string    `json:"uuid"`
	Created time.Time `json:"created"`
	Key     string    `json:"key"`   // hexadecimal
	Epoch   string    `json:"epoch"` // UUID; another one since the store was restored
	// Held is when the store was restored, until all nodes are released; Before is its epoch before that.
	Held   time.Time `json:"held,omitzero"`
	Before string    `json:"before,omitempty"`
}

// Release lets the node follow its binding, also on a disk that is ahead of the store. It reports whether that changes
// anything.
func (tx *Tx) Release() bool {
	epoch := tx.identity.Epoch
	changes := tx.Status().Released != epoch
	tx.Status().Released = epoch
	return changes
}

// readIdentity decodes the identity of the fleet, which is the first answer of a snapshot. It is empty before the first
// start of a sledd has made it.
func readIdentity(snapshot store.Snapshot) (identity Identity, err error) {
	if kv, found := snapshot.One(0); found {
		err = Decode(kv, &identity)
	}
	return identity, err
}

// Identity returns the identity of the fleet.
func (tx *Tx) Identity() Identity { return tx.identity }

// Held reports whether the store was restored, and neither an operator has released the node nor a plan of this epoch
// has configured a disk of it: then it boots its disk and gets no plan.
func (tx *Tx) Held() bool {
	epoch := tx.identity.Epoch
	return !tx.identity.Held.IsZero() && tx.Status().Released != epoch && tx.Status().Stamp.Epoch != epoch
}

// KnownStamp is the stamp of the newest plan that has started to configure a disk of the node (contract/plan.md,
// "Stamps"). It is empty if an operator has released the node: then no disk is ahead.
func (tx *Tx) KnownStamp() string {
	last := tx.Status().Stamp
	if last.Epoch != tx.Identity().Epoch {
		last = api.Stamp{}
	}
	if tx.Status().Released != "" && tx.Status().Released == tx.Identity().Epoch {
		return ""
	}
	return tx.Stamp(last.Generation, last.Run)
}

// Stamp is that of a plan of the node; empty before the identity of the fleet is made.
func (tx *Tx) Stamp(generation, run int64) string {
	identity := tx.Identity()
	if identity.Epoch == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/%s/%d/%d", identity.UUID, identity.Epoch, mac.Hyphens(tx.MAC), generation, run)
}

// Stamped notes that the newest plan has started to configure a disk. That disk is not ahead of what follows.
func (tx *Tx) Stamped() {
	if epoch := tx.Identity().Epoch; epoch != "" {
		status := tx.Status()
		status.Stamp = api.Stamp{Epoch: epoch, Generation: status.Run.Generation, Run: status.Run.Number}
		status.Released = ""
	}
}
