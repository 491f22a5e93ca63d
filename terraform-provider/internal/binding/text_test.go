// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// A token that nobody knows and a role that is too low are two things: each error says which it is, and what to do.
func TestAccTokenIsRefused(t *testing.T) {
	l := alone(t)
	operator, err := l.sledd.Client().PutOperator(t.Context(), api.Operator{Name: "ci", Role: api.Read})
	if err != nil {
		t.Fatal(err)
	}
	l.declare(n("n1", image("v1")))
	t.Setenv("SLED_TOKEN", operator.Token)
	saved := l.save() // role read is enough for a plan
	text := l.Fails("The role of the token is too low: could not bind node n1.*Plans need role read, applies role operate",
		"apply", saved)
	l.hasNot(acctest.Flat(text), "does not know the token", "revoked")
	if err := l.sledd.Client().DeleteOperator(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	text = l.Fails("sledd does not know the token.*The token was revoked, is mistyped, or is one of another boot server",
		"plan")
	l.hasNot(acctest.Flat(text), "role")
}

// A disk that nobody named is an error of the plan, also where sledd cannot check the plan yet. The same apply may name
// it.
func TestAccNoDiskIsNamed(t *testing.T) {
	l := start(t)
	if _, err := l.sledd.Client().PutNode(t.Context(), api.NodeSpec{MAC: mac1, Name: "n1"}); err != nil {
		t.Fatal(err)
	}
	l.declare(n("n1", image("v1")))
	l.Fails("no disk: neither the binding nor node n1 names one|No disk of node n1 is named", "plan")
	l.declare(chosen("v1"))
	l.Fails("No disk of node n1 is named.*Set disk in either", "plan")
	l.declare(n("n1", image("v1"), `disk = "serial:LAB-0001"`))
	l.Apply()
	l.wants(1, "v1", 1)
}

// A machine that the same apply declares has no generation to name: it is its first image.
func TestAccFirstImageOfANewNode(t *testing.T) {
	l := start(t)
	l.declare(nine("52:54:00:77:00:09", "serial:A", image("v1")))
	text := l.plan(2)
	l.has(text, "Warning: n9: disk serial:A is wiped and gets image v1 (first image)")
	l.hasNot(text, "a later one", "(none declared)")
}

// Empty texts are as good as none, but for an image: without one the machine is wiped, and that is asked for by null.
func TestAccEmptyTexts(t *testing.T) {
	l := start(t)
	empty := []string{`disk = ""`, `hostname = ""`, `kernel = ""`, `kernel_arguments = ""`}
	l.bound(append(empty, image("v1"))...)
	l.wants(1, "v1", 1)
	l.declare(n("n1", image("v1")))
	l.hasNot(l.plan(2), "is wiped", "~ generation ")
	l.Apply()
	l.Empty()
	l.declare(n("n1", append(empty, image("v2"))...))
	l.has(l.plan(2), "n1: disk serial:LAB-0001 is wiped and gets image v2")
	l.Apply()
	l.Empty()
	l.declare(n("n1", `image = ""`))
	l.Fails("The name of the image is empty.*set it to null", "plan")
	l.wants(1, "v2", 2)
}
