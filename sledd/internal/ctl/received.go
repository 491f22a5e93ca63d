// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// receivedText is what a write received: "110.12MB by multicast, 2.48MB by HTTP, 812 packets lost, 1 chunk rejected".
func receivedText(r *api.Received) string {
	text := bytesText(r.HTTP) + " by HTTP"
	if r.Multicast == 0 && r.Packets == 0 && r.Rejected == 0 {
		return text
	}
	return fmt.Sprintf("%s by multicast, %s, %s lost, %s rejected", bytesText(r.Multicast), text,
		counted(r.Lost, "packet"), counted(r.Rejected, "chunk"))
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sentText is what the boot server sent: "the boot server sent 1.04 copies of debian-12-v2 to 8 nodes: ..."
func sentText(s rollout.Sent) string {
	return fmt.Sprintf("the boot server sent %.2f copies of %s to %s: %s by multicast, %s by HTTP, %s lost, %s rejected",
		s.Copies, clean(s.Image), counted(int64(s.Nodes), "node"), bytesText(s.Multicast), bytesText(s.HTTP),
		counted(s.Lost, "packet"), counted(s.Rejected, "chunk"))
}
