// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"strings"
	"testing"
)

// Machines whose image runs from memory are neither in the wipes nor counted; those with a disk image beside them are.
func TestAccMemoryWipesNothing(t *testing.T) {
	s := start(t, "max_wipes = 0")
	s.RegisterRoot("root")
	s.RegisterRoot("other")
	for _, all := range [][]string{images("root", "root"), images("root", "other")} {
		s.declare(block("x", all, "allow_unsigned = true"))
		if text := s.Must("plan"); strings.Contains(text, "wipe") {
			t.Errorf("%v: %s", all, text)
		}
		s.Apply()
		s.Empty()
	}
	if b := s.Node(2).Binding; b.Image != "other" || b.Generation != 2 || !b.Memory {
		t.Errorf("%+v", b)
	}
	s.declare(block("x", images("root", "d12"), "allow_unsigned = true"))
	if text := s.Run("plan").Text; !strings.Contains(text, "max_wipes") || strings.Contains(text, "n1") {
		t.Error(text)
	}
}
