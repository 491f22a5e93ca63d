// SPDX-License-Identifier: Apache-2.0

package rollout

import "strings"

const (
	tailLines = 20
	tailBytes = 4096
)

// Tail is the last lines of a node's log before the kernel's (contract/report.md), as far as they
// are useful in a report.
func Tail(log string) string {
	log, _, _ = strings.Cut(log, "--- dmesg\n")
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(log, "\uFFFD"), "\n"), "\n")
	lines = lines[max(len(lines)-tailLines, 0):]
	text := strings.Join(lines, "\n")
	if surplus := len(text) - tailBytes; surplus > 0 {
		text = strings.ToValidUTF8(text[surplus:], "")
	}
	return text
}
