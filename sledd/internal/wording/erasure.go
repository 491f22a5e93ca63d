// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// Row is one fact.
type Row struct{ Name, Value string }

func filled(rows []Row) []Row {
	return slices.DeleteFunc(rows, func(row Row) bool { return row.Value == "" })
}

const sampleBytes = 4096

// results describes each result of an erasure.
var results = map[string]string{"good": "emptied and read back", "failed": "FAILED", "left": "left out, not touched"}

// ErasedDisk lists the facts of a record about its disk, the result first.
func ErasedDisk(r api.Erasure) []Row {
	return filled([]Row{
		{"Result", results[r.Result]},
		{"Reason", r.Reason.String()},
		{"Model", r.Model.String()}, {"Serial number", r.Serial.String()}, {"WWN", r.WWN.String()},
		{"Path", r.Path.String()}, {"Kernel name", r.Disk.String()},
		{"Size", fmt.Sprintf("%d bytes, sectors of %d", r.Bytes, r.Sector)},
		{"Node", fmt.Sprintf("%s, %s, generation %d", r.Node, r.MAC, r.Generation)},
		{"Admitted as", r.Admission}, {"Boot", r.BootID.String()},
		{"Reported", r.Time.UTC().Format(time.RFC3339)},
	})
}

// ErasureCourse lists how a disk was emptied and read back.
func ErasureCourse(r api.Erasure) []Row {
	if r.Level == "" {
		return nil
	}
	rows := []Row{
		{"Level", r.Level}, {"Method", r.Method}, {"Duration", strconv.FormatFloat(r.Seconds, 'f', 1, 64) + " s"},
		{"Read back", fmt.Sprintf("%s, %d bytes", r.Verify, r.Read)}, {"Proves", ErasureProof(r)}, {"Seed", r.Seed},
	}
	if !r.Reported.IsZero() {
		rows = append(rows, Row{"Reported by the drive", r.Reported.String()},
			Row{"Compared", fmt.Sprintf("%d blocks of 4,096 bytes, with what they held before", r.Compared)})
	}
	if r.BadRanges > 0 {
		rows = append(rows, Row{"Not reached", fmt.Sprintf("%d ranges, %d bytes: %s", r.BadRanges, r.BadBytes, r.Bad)})
	}
	return filled(rows)
}

// ErasureProof states what reading back would have found.
func ErasureProof(r api.Erasure) string {
	if r.Samples == 0 {
		if r.Level == "signatures" {
			return "the places of signatures hold zeros; all else is as it was"
		}
		if !r.Reported.IsZero() {
			return "every block that could be read holds one byte repeated, or not what it held"
		}
		return "every byte that could be read is as it was written"
	}
	if !r.Reported.IsZero() && r.Compared < r.Samples {
		return fmt.Sprintf("of %d samples only %d held something that the command had to change", r.Samples, r.Compared)
	}
	share := 1 - math.Pow(0.05, 1/float64(r.Samples))
	run := int64(1.56*float64(r.Bytes/r.Samples)) + sampleBytes
	return fmt.Sprintf("with 95 %%, leftovers in %.2f %% of the disk, or one run of %d MiB, would have been seen",
		100*share, (run+1<<20-1)>>20)
}
