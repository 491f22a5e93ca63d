// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// received is what a write received of the image of the binding; nil: not known, or the binding is another one now.
func (tx *nodeTx) received(sent report.Report, line report.Line) *api.Received {
	binding, told := tx.Binding(), line.Received
	if told == nil || binding == nil || binding.Source == nil || binding.Generation != sent.Generation {
		return nil
	}
	return &api.Received{Image: binding.Source.Name, FileBytes: binding.Source.FileBytes, HTTP: told.HTTP,
		Multicast: told.Multicast, Packets: told.Packets, Lost: told.Lost, Rejected: told.Rejected, Last: told.Last}
}
