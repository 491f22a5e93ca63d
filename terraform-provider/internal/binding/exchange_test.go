// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// styles are the three ways to say which machine is bound: by MAC, by name, and many.
var styles = []string{`
resource "sled_binding" "b" {
  node  = sled_node.n.mac
  image = "v1"
}`, `
resource "sled_binding" "b" {
  node  = sled_node.n.name
  image = "v1"
}`, `
resource "sled_bindings" "b" {
  name   = "b"
  images = { (sled_node.n.mac) = "v1" }
}`}

// machine declares node r1 with the MAC of machine i.
func machine(i int) string {
	return fmt.Sprintf(`resource "sled_node" "n" {
  mac  = %q
  name = "r1"
  disk = "only"
}`, sleddtest.MAC(i))
}

// A node that gets another MAC keeps its binding, whatever names the machine: the plan shows the MAC, images nothing,
// and is empty afterwards. Likewise when somebody exchanged it before.
func TestAccExchangedMAC(t *testing.T) {
	l := start(t)
	for i, style := range styles {
		first := 10 * (i + 1) // a MAC keeps its generation
		exchanged := func(to int, how string) {
			l.declare(machine(to), style)
			if got := l.wipes(); len(got) > 0 {
				t.Errorf("%s, %s: the plan wipes %q", style, how, got)
			}
			l.Must("apply", "saved")
			l.Empty()
			if b := l.sledd.Node(to).Binding; b == nil || b.Generation != 1 {
				t.Fatalf("%s, %s: %+v", style, how, b)
			}
		}
		l.declare(machine(first), style)
		l.Apply()
		l.sledd.Machine(first).Fulfil()
		l.declare(machine(first+1), style)
		l.has(l.plan(2), "Node r1 gets MAC "+sleddtest.MAC(first+1)+" instead of "+sleddtest.MAC(first), "0 to add",
			"0 to destroy")
		exchanged(first+1, "by the apply")
		if _, err := l.sledd.Client().ReplaceNode(t.Context(), "r1", sleddtest.MAC(first+2)); err != nil {
			t.Fatal(err)
		}
		l.Fails("Node r1 was exchanged outside: "+sleddtest.MAC(first+1)+" -> "+sleddtest.MAC(first+2)+".*Write the new MAC",
			"plan")
		exchanged(first+2, "by hand")
		l.declare(machine(first+2), strings.ReplaceAll(style, "v1", "v2"))
		l.Apply()
		if b := l.sledd.Node(first + 2).Binding; b == nil || b.Generation != 2 {
			t.Errorf("%s: another image: %+v", style, b)
		}
		l.Must("destroy", "-auto-approve")
	}
}

// A binding whose MAC was exchanged outside is told to be under the new one, not to be gone.
func TestAccExchangedOutside(t *testing.T) {
	l := start(t)
	l.declare(strings.Replace(n("n1", image("v1")), `node = "n1"`, `node = "`+sleddtest.MAC(1)+`"`, 1))
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	if _, err := l.sledd.Client().ReplaceNode(t.Context(), "n1", sleddtest.MAC(20)); err != nil {
		t.Fatal(err)
	}
	l.has(l.plan(0), "n1 is bound under another MAC, "+sleddtest.MAC(20)+", after generation 1")
}

// What cannot be exchanged is refused by the plan: a MAC of another node. Another name too is another machine.
func TestAccExchangeIsRefused(t *testing.T) {
	l := start(t)
	l.declare(machine(10), styles[0])
	l.Apply()
	l.declare(machine(2), styles[0])
	l.Fails("give node r1 the MAC 52:54:00:77:00:02.*n2", "plan")
	l.declare(strings.ReplaceAll(machine(11), "r1", "r2"), styles[0])
	l.has(l.plan(2), "2 to add", "2 to destroy", "forces replacement")
}
