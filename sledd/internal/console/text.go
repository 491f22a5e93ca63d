// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// ours is in each line that the Sled system prints.
const ours = "sled: "

// Shows reports whether a line that was recorded at a time or later has a text, without what moves the cursor. Lines of
// the Sled system do not count: they can be of the second in which it jumped.
func Shows(record []byte, since time.Time, text string) bool {
	since = since.Truncate(time.Second) // as the times of lines are
	for line := range bytes.Lines(record) {
		stamp, printed, _ := bytes.Cut(line, []byte(" "))
		at, err := time.Parse(time.RFC3339, string(stamp))
		if err != nil || at.Before(since) {
			continue
		}
		shown := nodetext.RawOf(printed).String()
		if strings.Contains(shown, text) && !strings.Contains(shown, ours) {
			return true
		}
	}
	return false
}
