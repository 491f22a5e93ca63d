// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// What a node reports is printed by terraform and stored in its state.
func TestHostileTextIsCleaned(t *testing.T) {
	for name, texts := range sleddtest.HostileTexts(t) {
		var node api.Node
		if err := json.Unmarshal(sleddtest.HostileNode(t, "52:54:00:77:00:01", "n1", texts), &node); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, f := observedOf(node), factsOf(node.Facts)
		sleddtest.Printable(t, name+" reason", s.Reason.ValueString(), "")
		sleddtest.Printable(t, name+" image", s.ObservedImage.ValueString(), "")
		devices := slices.Concat(f.Disks, f.NICs, f.Partitions)
		if len(devices) != 4 {
			t.Fatalf("%s: %d devices", name, len(devices))
		}
		for _, values := range append(devices, f.Kernel, f.CPU, f.Memory, f.Firmware, f.DMI) {
			for key, value := range values {
				sleddtest.Printable(t, name+" "+key, value, "")
			}
		}
	}
}
