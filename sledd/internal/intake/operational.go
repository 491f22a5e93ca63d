// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Operational takes the installed system's word that it runs.
func (in *Intake) Operational(ctx context.Context, address, bearer string, sent api.OS, generation int64,
	uptime float64) error {
	return in.update(ctx, address, nil, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Operational, current)
		if err != nil {
			return err
		}
		if generation != record.Generation {
			return refusal.Value("body", generation,
				fmt.Errorf("line 2: generation %d, the token is of generation %d", generation, record.Generation))
		}
		if generation != tx.Status().Generation {
			return refusal.New(refusal.Forbidden,
				"generation %d is not the last one that was issued to node %s (%d)",
				generation, address, tx.Status().Generation)
		}
		if record.Unwritten {
			return refusal.New(refusal.Forbidden, "the boot that fetched the seed has not reported the end of a write of "+
				"generation %d", generation)
		}
		tx.Status().Seen = tx.Now
		if tx.Status().Phase == api.Operational && tx.Status().OS != nil && tx.Status().OS.BootID == sent.BootID {
			return nil // sent again
		}
		sent.Confirmed = tx.Now
		sent.Address, _ = nodetext.ParseAddress(tx.From()) // none behind a proxy on this machine
		if known := tx.Status().OS; known != nil {
			sent.HostKey = known.HostKey
		}
		if tx.Status().Memory { // the kernel below it was started otherwise
			sent.Start = fromMemory
		} else {
			tx.recordSystemStart(sent.Start, generation)
		}
		tx.Enter(api.Operational)
		tx.step(admission.Tick{}) // it has the console from here on, also if the report of the jump was lost
		tx.Status().OS, tx.Status().BootID = &sent, sent.BootID
		tx.Status().Progress, tx.Status().Code, tx.Status().Reason = nil, 0, api.Prose{}
		tx.AddEvent(api.Event{Kind: "operational", Generation: generation, BootID: sent.BootID, Seconds: uptime,
			Detail: sent.Lacks, Level: tx.installedAt(generation)})
		tx.compareBootOrder()
		return nil
	})
}

// installedAt is the level at which the node was admitted that installed a generation; empty: not known.
func (tx *nodeTx) installedAt(generation int64) string {
	if state := tx.Admission(); state.Left != "" && state.Generation == generation {
		return state.Floor.String()
	}
	return ""
}

// compareBootOrder notes a firmware that does not boot first what is declared.
func (tx *nodeTx) compareBootOrder() {
	node := tx.Public()
	if other := node.OtherBootOrder(); other != "" {
		tx.AddEvent(api.Event{Kind: "bootorder", Generation: tx.Status().Generation, BootID: tx.Status().BootID,
			Detail: nodetext.Clean(fmt.Sprintf("the firmware boots from %s first, declared is %s", other,
				node.BootOrder))})
	}
}
