// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// handOver makes a new generation one that hands the machine over: if that is declared, if its owner is
// another than that of the last image, or if a handover before it was not completed. Then nobody is admitted until the
// machine was reset. A capture reads the system of its owner, and hands nothing over.
func (tx *nodeTx) handOver() {
	now, status := tx.Binding(), tx.Status()
	if len(tx.why) == 0 || now.Capture != "" {
		return
	}
	another := now.Owner != "" && status.Owner != "" && now.Owner != status.Owner
	if now.Owner != "" {
		status.Owner = now.Owner
	}
	pending := status.Handover != 0 && !tx.done
	if status.Handover = 0; now.Handover || another || pending {
		status.Handover = now.Generation
		tx.fleet.Policy.Step(tx.Tx, admission.HandOver{})
	}
}
