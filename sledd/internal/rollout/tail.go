// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

const (
	tailLines = 20
	tailBytes = 4096
)

// Tail is the last lines of a node's log before the kernel's (contract/report.md), as far as they
// are useful in a report.
func Tail(log api.Raw) api.Raw {
	text, _, _ := strings.Cut(log.String(), "--- dmesg\n")
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = lines[max(len(lines)-tailLines, 0):]
	text = strings.Join(lines, "\n")
	if surplus := len(text) - tailBytes; surplus > 0 {
		text = strings.ToValidUTF8(text[surplus:], "")
	}
	return nodetext.RawOf([]byte(text))
}
