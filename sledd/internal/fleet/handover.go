// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// handOver makes a new generation one that hands the machine over: if that is declared, if its owner is
// another than that of the last image, or if a handover before it was not completed. Then nobody is admitted until the
// machine was reset. A capture reads the system of its owner, and hands nothing over. One partition hands over none
// either, since the others stay.
func (tx *nodeTx) handOver() error {
	now, status := tx.Binding(), tx.Status()
	if len(tx.why) == 0 || now.Capture != "" {
		return nil
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
	if now.Partition != "" && tx.HandsOver() {
		return refusal.Value("body.partition", now.Partition, errors.New("the machine changes hands by this binding, so "+
			"that all its disks are wiped: bind it to an image of a disk first"))
	}
	return nil
}
