// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// A machine has one binding: a key that is one of its further MACs would be a second one.
func TestAccFurtherMACs(t *testing.T) {
	s := start(t)
	spec := s.node(1).NodeSpec
	spec.MACs = []string{sleddtest.MAC(5)}
	if _, err := s.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	want := "MAC 52:54:00:77:00:05 is that of a further interface of node n1: name the machine by its mac, " +
		"52:54:00:77:00:01"
	for _, machines := range []int{5, 30} { // read one by one, and as a list
		all := make([]string, machines)
		for i := range all {
			all[i] = "d12"
		}
		s.declare(block("x", append([]string{""}, all[1:]...)))
		s.Fails(want, "plan")
	}
}
