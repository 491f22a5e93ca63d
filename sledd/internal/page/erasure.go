// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"io"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/erasure"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Erasure writes the record of an erased disk.
func Erasure(w io.Writer, r api.Erasure) error {
	line, err := erasure.Encode(r)
	if err == nil {
		err = pages.ExecuteTemplate(w, "erasure.html", map[string]any{"Record": r, "Disk": wording.ErasedDisk(r),
			"Course": wording.ErasureCourse(r), "SHA256": erasure.Hash(line), "Good": r.Result == "good",
			"Left": r.Result == "left"})
	}
	if err != nil {
		return fmt.Errorf("page of record %d: %w", r.Number, err)
	}
	return nil
}
