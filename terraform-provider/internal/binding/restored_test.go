// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// The store was restored from a backup that is older than bindings, images of bindings and a node: nothing is imaged
// without an explicit yes, the plan names each machine, and with the yes it names the disks.
func TestAccRestoredStore(t *testing.T) {
	l := start(t)
	declared := func(drift string) []string {
		return []string{n("n1", image("v2"), drift), n("n4", image("v1"), drift),
			many("x", []string{"", v2, v1}, drift), nine("52:54:00:77:00:09", "serial:A", image("v1"), drift)}
	}
	l.declare(n("n1", image("v1")), many("x", []string{"", v1}))
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	restore, fleet := l.sledd.Backup(), l.fleet()
	l.declare(declared(`on_drift = "warn"`)...)
	l.Apply()
	for _, i := range []int{1, 2, 3, 4} {
		l.sledd.Machine(i).Fulfil()
	}
	l.Empty()
	restore()
	if now := l.fleet(); now != fleet {
		t.Fatalf("fleet %s became %s", fleet, now)
	}
	before := l.generations()
	text := l.plan(2) // the node is declared again
	l.has(text, "n1 is bound to image v1 instead of image v2, at generation 1", "n4 is not bound any more, after "+
		"generation 1", "n9 is not known to sledd any more", "n2 (52:54:00:77:00:02): bound to image v1 instead of image v2",
		"n3 (52:54:00:77:00:03): not bound any more, after generation 1", "sled_node.n9")
	if named := l.wipes(); len(named) > 0 {
		t.Errorf("the plan names %q", named)
	}
	l.Must("apply", "saved")
	if imaged := l.imaged(before); len(imaged) > 0 {
		t.Errorf("imaged without a request: %q", imaged)
	}
	l.head = acctest.Header(l.sledd.URL, "max_reimages = 4")
	l.declare(declared(`on_drift = "reimage"`)...)
	l.Fails("max_reimages of the provider is 4, this plan images at least 5: n1, n2, n3, n4, n9", "plan")
	l.head = acctest.Header(l.sledd.URL)
	l.declare(declared(`on_drift = "reimage"`)...)
	lines := l.wipes()
	if named := l.names(lines); len(named) != 5 {
		t.Errorf("the plan names %q", lines)
	}
	l.Must("apply", "saved")
	if imaged := l.imaged(before); len(imaged) != 5 {
		t.Errorf("the plan names %q, imaged are %q", lines, imaged)
	}
	l.Empty()
}
