// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

var errNoFacts = errors.New("no facts of this boot: a node reports its disks before it gets a plan that names one")

// pin names the disks of a plan by the identities that the boot of a token has reported. The error is why a selector
// does not resolve.
func (tx *nodeTx) pin(desired plan.Plan, record *token.Record) (plan.Plan, error) {
	if !desired.NamesDisks() {
		return desired, nil
	}
	boot := tx.bootOf(record.Claim)
	if facts := tx.Facts(); facts == nil || facts.BootID.String() != boot {
		return plan.Plan{}, errNoFacts
	}
	pinned, err := desired.Pin(tx.Facts().Table())
	if err != nil {
		return plan.Plan{}, err //nolint:wrapcheck // states the selector and the reason
	}
	return tx.withoutErase(pinned, boot), nil
}

// bootOf returns the boot id of the claim that is admitted; of any other one that no boot has.
func (tx *nodeTx) bootOf(claim string) string {
	if incumbent := tx.Admission().Incumbent; incumbent != nil && incumbent.ID == claim {
		return incumbent.Hello.Boot
	}
	return "not admitted"
}

// refusePlan notes that the node gets no plan, once for each reason. Every poll tries again. Facts that are missing are
// no failure: they are sent again until they arrive.
func (tx *nodeTx) refusePlan(desired plan.Plan, why error) {
	if errors.Is(why, errNoFacts) {
		return
	}
	status, reason := tx.Status(), nodetext.Clean(why.Error())
	if status.Phase == api.Failed && status.Generation == desired.Generation && status.Reason == reason {
		return
	}
	tx.Enter(api.Failed)
	status.Generation, status.Code, status.Reason, status.Detail = desired.Generation, api.CodeDisk, reason, api.Prose{}
	status.Step, status.Steps, status.Verb, status.Progress = 0, 0, "", nil
	tx.Writes.Put(key.Logs+tx.MAC, []byte(tx.disksText(desired, why)))
	tx.AddEvent(api.Event{Kind: "disk", Generation: desired.Generation, BootID: status.BootID, Code: api.CodeDisk,
		Detail: reason})
}

// disksText is the log of a plan that was refused: each disk, and why it was not chosen.
func (tx *nodeTx) disksText(desired plan.Plan, why error) string {
	var out strings.Builder
	list, _ := tx.Facts().Table().Explain(desired.Disk(), tx.Spec().KeepDisks, true)
	for _, verdict := range list {
		fmt.Fprintf(&out, "%s: %s: %s\n", verdict.Disk.Name, verdict.Disk, verdict.Why)
	}
	return out.String() + why.Error() + "\n"
}
