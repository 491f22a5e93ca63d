// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// waitOf returns what a node waits for that an operator might take for a hang; nil: nothing.
func (f *Fleet) waitOf(tx *nodetx.Tx, state admission.State, shown api.Node) *api.Wait {
	name := cmp.Or(shown.Name, shown.MAC)
	status := shown.Status
	if state.Incumbent != nil && !status.Withheld.IsZero() {
		if wait := withheld(name, f.Policy.May(tx, state.Incumbent.ID)); wait != nil {
			return wait
		}
	}
	reset := state.Window != nil && state.Window.Reset
	if len(shown.WaitingClaims) > 0 && tx.RunsPayload() && !reset {
		return &api.Wait{Kind: api.WaitsForAdmit, For: "a reset, as its payload could have printed the code on its console",
			EndsBy: "sledctl admit " + name + " --within 10m --reset"}
	}
	if job := tx.Job(); job.Jumped() {
		return &api.Wait{Kind: api.WaitsForPayload, For: "the end of its job, whose payload confirms by " + job.Confirm,
			Until: job.Until()}
	}
	if payload := tx.Awaited(); payload != nil {
		return &api.Wait{Kind: api.WaitsForPayload, For: "its payload, which confirms by " + payload.Confirm,
			Until: payload.Until(status.Since)}
	}
	if tx.Held() {
		return &api.Wait{Kind: api.WaitsForRelease, For: "its release, as the store was restored",
			EndsBy: "sledctl release " + name}
	}
	if !state.HandedOver.IsZero() {
		return &api.Wait{Kind: api.WaitsForReset, For: "a reset of its machine, which changes hands",
			EndsBy: "sledctl admit " + name + " --within 10m --reset"}
	}
	if len(shown.WaitingClaims) > 0 {
		return &api.Wait{Kind: api.WaitsForAdmit, For: "an operator who reads the code on its console",
			EndsBy: "sledctl admit " + name + " CODE"} // typed by who has read it
	}
	job := tx.Job()
	waits := job != nil && job.State == api.JobWaiting
	if waits && !job.Reason.IsZero() {
		return &api.Wait{Kind: api.WaitsForImage, For: "its job: " + job.Reason.String()}
	}
	if status.Run.Payload && tx.Detour() == nil {
		return &api.Wait{Kind: api.WaitsForBoot, For: "its next boot, as the payload of its job has the machine"}
	}
	bound := shown.Binding != nil && shown.Binding.Generation > status.Generation && tx.Detour() == nil
	if (bound || waits) && (status.Phase == "" || status.Phase.Installed() || status.Phase == api.Captured) {
		return &api.Wait{Kind: api.WaitsForBoot, For: "its next boot"}
	}
	return nil
}

// withheld is the wait for a secret; nil: the node may have it.
func withheld(name string, may admission.Rights) *api.Wait {
	admit := "sledctl admit " + name + " CODE"
	switch {
	case may.Secrets:
		return nil
	case may.Until.IsZero():
		return &api.Wait{Kind: api.WaitsForDecision, For: "an operator: " + may.Reason, EndsBy: admit}
	}
	_, why, _ := strings.Cut(may.Reason, "; ")
	return &api.Wait{Kind: api.WaitsForRival, For: "a rival (" + cmp.Or(why, "rival_time") + ")", Until: may.Until,
		EndsBy: admit}
}
