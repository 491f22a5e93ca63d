// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// A handover is planned as the loss of all disks, images the machine again once, and refuses it tickets until it is
// done. To declare it no longer is no change of the machine.
func TestAccAMachineChangesHands(t *testing.T) {
	l := alone(t)
	l.declare(n("n1", image("v1")))
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	l.declare(n("n1", image("v1"), "handover = true"))
	text := l.plan(2)
	l.has(text, "~ generation = 1 -> 2", "+ handover = true",
		"n1: all disks are wiped and one gets image v1 (generation 1 -> 2)")
	l.Apply()
	if b := l.wants(1, "v1", 2); !b.HandsOver || !b.Handover {
		t.Errorf("%+v", b)
	}
	if _, err := l.sledd.Client().Ticket(t.Context(), "n1"); !api.IsConflict(err) {
		t.Errorf("a ticket while it changes hands: %v", err)
	}
	l.Empty()
	l.declare(n("n1", image("v1")))
	l.has(l.plan(2), "- handover = true")
	l.Apply()
	l.wants(1, "v1", 2)
	l.Empty()
}
