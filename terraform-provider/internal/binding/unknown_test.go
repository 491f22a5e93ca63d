// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// chosen is an image whose name comes with the apply.
func chosen(name string) string {
	return "resource \"terraform_data\" \"chosen\" {\n  input = \"" + name + "\"\n}\n" +
		n("n1", "image = terraform_data.chosen.output")
}

// An image that is not known when planned: the first generation is known all the same, a later one is not, and the
// machine counts as imaged again.
func TestAccUnknownImage(t *testing.T) {
	l := start(t)
	l.declare(chosen("v1"))
	l.has(l.plan(2), "+ generation = 1", "+ image = (known after apply)",
		"gets image (known after apply) (generation 0 -> 1)")
	l.Apply()
	l.wants(1, "v1", 1)
	l.Empty()

	l.declare(chosen("v2"))
	l.has(l.plan(2), "~ generation = 1 -> (known after apply)",
		"Warning: n1: disk serial:LAB-0001 is wiped and gets image (known after apply) (generation 1 -> a later one)")
	l.Apply()
	l.wants(1, "v2", 2)
	l.Empty()

	l.declare(chosen("v2") + `
resource "terraform_data" "other" {
  input = terraform_data.chosen.id
}`)
	l.Apply()
	l.wants(1, "v2", 2)
}

// An image that turns out to be the one that is bound raises nothing; drifted meanwhile, it writes nothing.
func TestAccUnknownImageIsTheSame(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare(chosen("v1"))
	saved := l.save()
	l.Must("apply", saved)
	l.wants(1, "v1", 1)
	l.Empty()

	l.drift()
	l.declare(chosen("v3"))
	l.refused("n1 is bound to image v2 instead of image v1, at generation 2", "apply", "-auto-approve")
	l.wants(1, "v2", 2)
}

// Node, image and binding are declared by one apply: the generation comes with it, and the next plan is empty.
func TestAccNodeOfTheSameApply(t *testing.T) {
	l := start(t)
	node := `
resource "sled_node" "n9" {
  mac  = "52:54:00:77:00:09"
  name = "n9"
  disk = "serial:LAB-0009"
}
resource "sled_binding" "n9" {
  node  = sled_node.n9.name
  image = "v1"
}`
	l.declare(node)
	l.has(l.plan(2), "+ generation = (known after apply)", "+ node = \"n9\"",
		"n9: disk serial:LAB-0009 is wiped and gets image v1")
	l.Apply()
	l.wants(9, "v1", 1)
	l.Empty()
	l.declare()
	l.Apply()
	l.Empty()
}

// A node that nobody declares is an error that says what to do, and leaves nothing in the state.
func TestAccNodeThatIsNotThere(t *testing.T) {
	l := start(t)
	l.declare(n("n8", image("v1")))
	l.refused(`Node n8 is not declared .*sled_node`, "plan")
	l.declare(n("n1", image("v9")))
	l.refused(`sledd refused to bind node n1 .*v9`, "apply", "-auto-approve")
	if l.sledd.Node(1).Binding != nil {
		t.Error("n1 is bound")
	}
}

// A machine whose binding only wipes and has no owner is free: an image may be bound, and the same wipe is adopted.
func TestAccOverAWipe(t *testing.T) {
	l := start(t)
	for i := range 2 {
		l.sledd.Bind(api.BindingSpec{Node: []string{"n1", "n2"}[i]})
		l.sledd.Machine(i + 1).Fulfil()
	}
	l.declare(n("n1", image("v1")), n("n2"))
	text := l.plan(2)
	l.has(text, "+ generation = 2", "n1: disk serial:LAB-0001 is wiped and gets image v1 (generation 1 -> 2)",
		"+ generation = 1")
	l.hasNot(text, "n2: disk")
	l.Apply()
	l.wants(1, "v1", 2)
	if b := l.wants(2, "", 1); b.Owner != "terraform" {
		t.Errorf("owner %q", b.Owner)
	}
	l.Empty()
}

// Without a refresh a plan goes by what the state knows: the generation is right, and what changed behind it is found
// by the apply.
func TestAccWithoutRefresh(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.plan(0, "-refresh=false")
	l.declare(n("n1", image("v2")))
	l.has(l.plan(2, "-refresh=false"), "~ generation = 1 -> 2")
	l.Apply("-refresh=false")
	l.wants(1, "v2", 2)

	l.sledd.Machine(1).Fulfil()
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v3", Owner: "terraform"})
	l.plan(0, "-refresh=false")
	l.declare(n("n1", image("v1")))
	l.refused(changed+"bind node n1", "apply", "-auto-approve", "-refresh=false")
	l.wants(1, "v3", 3)
}
