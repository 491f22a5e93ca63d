// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

func hasErasures(line report.Line) bool { return len(line.Erasures) > 0 }

// recordErasures appends what a wipe did to each disk to the chain of records, with the end of the step or not at all.
func (in *Intake) recordErasures(ctx context.Context, tx *nodeTx, sent report.Report, line report.Line) error {
	records := make([]api.Erasure, 0, len(line.Erasures))
	for _, e := range line.Erasures {
		records = append(records, tx.erasureOf(sent, line, e))
	}
	return in.Erasures.Append(ctx, &tx.Writes, records)
}

func (tx *nodeTx) erasureOf(sent report.Report, line report.Line, e report.Erasure) api.Erasure {
	record := api.Erasure{Time: tx.Now.Truncate(time.Second), MAC: tx.MAC, Generation: sent.Generation, BootID: sent.Boot,
		Step: line.Step, Result: e.Result, Disk: e.Disk, Serial: e.Serial, WWN: e.WWN, Path: e.Path, Model: e.Model,
		Bytes: e.Bytes, Sector: e.Sector, Level: e.Level, Method: e.Method, Verify: e.Verify, Read: e.Read,
		Samples: e.Samples, Seed: e.Seed, Seconds: e.Seconds, BadRanges: e.BadRanges, BadBytes: e.BadBytes, Bad: e.Bad,
		Reported: e.Reported, Compared: e.Compared, Reason: e.Reason}
	if tx.Node() != nil {
		record.Node = tx.Node().Name
	}
	if incumbent := tx.Admission().Incumbent; incumbent != nil {
		record.Admission = incumbent.Level.String()
	}
	return record
}
