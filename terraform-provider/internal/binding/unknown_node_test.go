// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// comes is a binding whose attribute comes from a resource that the same apply changes.
func comes(attribute, value string, lines ...string) string {
	return "resource \"terraform_data\" \"t\" {\n  input = \"" + value + "\"\n}\n" +
		"resource \"sled_binding\" \"n1\" {\n  " + attribute + " = terraform_data.t.output\n  image = \"v1\"\n  " +
		lines[0] + "\n}\n"
}

// A node that is not known when planned is a replacement that may wipe, and counts as one.
func TestAccUnknownNode(t *testing.T) {
	l := start(t)
	l.declare(comes("node", "n1", ""))
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	l.Empty()
	l.declare(comes("node", "n2", ""))
	l.has(l.plan(2), "must be replaced", "+ wipes = (known after apply)")
	head := l.head
	for _, limit := range []string{"max_reimages = 0", "max_wipes = 0"} {
		l.head = acctest.Header(l.sledd.URL, limit)
		l.declare(comes("node", "n2", ""))
		l.Fails("the node that follows n1", "plan")
	}
	l.head = head
	l.declare(comes("node", "n2", ""))
	l.Apply()
	l.wants(2, "v1", 1)
	if l.sledd.Node(1).Binding != nil {
		t.Error("n1 is still bound")
	}
	l.Empty()
}

// A part of the seed that is not known when planned images nothing where it is for the next image.
func TestAccUnknownSeed(t *testing.T) {
	for attribute, values := range map[string][2]string{"hostname": {"a", "b"}, "user_data": {"#!a", "#!b"}} {
		t.Run(attribute, func(t *testing.T) {
			l := start(t, "max_reimages = 0")
			l.declare(comes(attribute, values[0], `node = "n1"`))
			l.Apply()
			l.sledd.Machine(1).Fulfil()
			l.Empty()
			l.declare(comes(attribute, values[1], `node = "n1"`))
			text := l.plan(2)
			l.has(text, "seed_differs = false -> (known after apply)")
			l.hasNot(text, "generation", "wipes")
			l.Apply()
			l.wants(1, "v1", 1)
			l.Empty()
			l.declare(comes(attribute, values[0], "node = \"n1\"\n  seed_changes = \"reimage\""))
			l.Fails("Too many machines would be imaged again", "plan")
		})
	}
}
