// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// seenIn returns the facts that a boot has sent, and the disks that were erased in it; nil: none.
func (tx *nodeTx) seenIn(boot string) (facts *api.Facts, erased *api.Erased) {
	if facts = tx.Facts(); facts == nil || facts.BootID.String() != boot {
		facts = nil
	}
	if erased = tx.Status().Erased; erased == nil || erased.BootID != boot {
		erased = nil
	}
	return facts, erased
}

// bootOf returns the boot id of the claim that is admitted; of any other one that no boot has.
func (tx *nodeTx) bootOf(claim string) string {
	if incumbent := tx.Admission().Incumbent; incumbent != nil && incumbent.ID == claim {
		return incumbent.Hello.Boot
	}
	return "not admitted"
}

// refusePlan notes that the node gets no plan, once for each reason. Every poll tries again.
func (tx *nodeTx) refusePlan(generation int64, why *plan.DiskError) {
	if tx.failPlan(generation, api.CodeDisk, why) {
		tx.Writes.Put(key.Logs+tx.MAC, []byte(tx.disksText(why)))
		tx.AddEvent(api.Event{Kind: "disk", Generation: generation, BootID: tx.Status().BootID, Code: api.CodeDisk,
			Detail: tx.Status().Reason})
	}
}

// refuseNetwork notes likewise that the machine lacks interfaces of its declared network.
func (tx *nodeTx) refuseNetwork(generation int64, why *plan.NetworkError) {
	if tx.failPlan(generation, api.CodeNotSupported, why) {
		tx.AddEvent(api.Event{Kind: "network", Generation: generation, BootID: tx.Status().BootID, Code: api.CodeNotSupported,
			Detail: tx.Status().Reason})
	}
}

// failPlan enters the phase failed; false: the node has failed for that reason already.
func (tx *nodeTx) failPlan(generation int64, code int, why error) bool {
	status, reason := tx.Status(), nodetext.Clean(why.Error())
	if status.Phase == api.Failed && status.Generation == generation && status.Reason == reason {
		return false
	}
	tx.Enter(api.Failed)
	status.Generation, status.Code, status.Reason, status.Detail = generation, code, reason, api.Prose{}
	status.Step, status.Steps, status.Verb, status.Progress = 0, 0, "", nil
	return true
}

// disksText is the log of a plan that was refused: each disk, and why it was not chosen.
func (tx *nodeTx) disksText(why *plan.DiskError) string {
	var out strings.Builder
	list, _ := tx.Facts().Table().Explain(why.Selector, tx.Spec().KeepDisks, true)
	for _, verdict := range list {
		fmt.Fprintf(&out, "%s: %s: %s\n", verdict.Disk.Name, verdict.Disk, verdict.Why)
	}
	return out.String() + why.Error() + "\n"
}
