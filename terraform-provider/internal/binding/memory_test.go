// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"
)

// An image that runs from memory wipes nothing, whatever the limits; a disk image after it does, and so does a
// handover.
func TestAccMemoryWipesNothing(t *testing.T) {
	l := start(t, "max_wipes = 0", "max_reimages = 0")
	l.sledd.RegisterRoot("root")
	l.sledd.RegisterRoot("other")
	allow := "allow_unsigned = true"
	for i, name := range []string{"root", "other"} {
		l.declare(n("n1", image(name), allow))
		l.hasNot(l.plan(2), "+ wipes", "is wiped")
		l.Apply()
		l.wants(1, name, int64(i)+1)
		l.Empty()
	}
	l.declare(n("n1", image("v1")))
	l.has(l.Run("plan").Text, "max_reimages")
	l.declare(n("n1", image("root"), allow, "handover = true"))
	l.has(l.Run("plan").Text, "max_reimages")
}

// No disk is selected for an image that runs from memory, and the plan shows that.
func TestAccMemorySelectsNoDisk(t *testing.T) {
	l := start(t)
	l.sledd.RegisterRoot("root")
	allow := "allow_unsigned = true"
	l.declare(n("n1", image("root"), allow))
	text := l.plan(2)
	l.has(text, `+ disk_selected = "none"`)
	l.hasNot(text, "LAB-0001")
	l.Apply()
	l.Empty()
	l.declare(n("n1", image("v1"), allow))
	l.has(l.plan(2), `~ disk_selected = "none" -> "serial:LAB-0001"`, "disk serial:LAB-0001 is wiped")
	l.Apply()
	l.Empty()
	l.declare(n("n1", image("root"), allow))
	l.has(l.plan(2), `~ disk_selected = "serial:LAB-0001" -> "none"`)
	l.Apply()
	l.Empty()
}
