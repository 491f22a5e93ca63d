// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// noteWrite notes in the tokens of a claim whether its boot has written the disk, or fetched what runs from memory. The
// installed system confirms with a token that one of them fetched, a payload with one of them.
func (tx *nodeTx) noteWrite(claim string, generation int64, line report.Line) {
	step, _ := plan.VerbOf(line.Verb)
	job := tx.Job().Payload() != nil
	root := tx.Status().Run.Detour == "" && tx.Status().Kernel.State != api.KernelDue
	brings := line.Verb == "write" || line.Verb == "fetch" && (root || job)
	written := line.Kind == report.End && brings && line.Code == 0
	if !written && (line.Kind != report.Begin || !step.Changes && !brings) {
		return
	}
	for i, record := range tx.Tokens() {
		confirms := record.Purpose == token.Boot && !job || record.Purpose == token.Payload
		if confirms && record.Claim == claim && record.Generation == generation {
			tx.Tokens()[i].Unwritten = !written
		}
	}
}

// forgetDisk notes that the disk is no longer what it was. No system that was on it may confirm.
func (tx *nodeTx) forgetDisk() {
	tx.Status().Image, tx.Status().Digest, tx.Status().OS, tx.Status().DiskKept = "", "", nil, false
	for i, record := range tx.Tokens() {
		if record.Purpose == token.Operational {
			tx.Tokens()[i].Unwritten = true
		}
	}
}

// unconfirmed is the system on a disk that is left as it is: it may start again, with the same host key.
func (tx *nodeTx) unconfirmed() *api.OS {
	if os := tx.Status().OS; os != nil && !os.HostKey.IsZero() {
		return &api.OS{HostKey: os.HostKey, Address: os.Address}
	}
	return nil
}
