// SPDX-License-Identifier: Apache-2.0

package double

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// A stamp is outside of the partitions of a disk.
func TestTheStampStaysWithAPartition(t *testing.T) {
	for text, want := range map[string]string{"write disk=only": "", "write disk=only partition=2": "s"} {
		n := &node{Machine: &Machine{Dir: t.TempDir(), MAC: "52:54:00:77:00:01"}}
		step, err := operand.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"stamp", "disk"} {
			if err := n.write(name, "s"); err != nil {
				t.Fatal(err)
			}
		}
		if ahead, err := n.lose(step); ahead || err != nil || n.read("stamp") != want || n.read("disk") != "" {
			t.Errorf("%s: %t, %v, stamp %q, disk %q", text, ahead, err, n.read("stamp"), n.read("disk"))
		}
	}
}
