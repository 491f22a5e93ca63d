// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const before = "lifecycle {\n    create_before_destroy = true\n  }"

// dependent forces create_before_destroy on n1.
const dependent = `
resource "terraform_data" "dns" {
  triggers_replace = sled_binding.n1.generation
  lifecycle {
    create_before_destroy = true
  }
}
`

// A replacement that creates first is a reimage in place: once, as the plan shows it, and nothing is left over.
func TestAccCreateBeforeDestroy(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		more  string
		to    int64
		wipes string
	}{
		"keep":      {[]string{before}, "", 2, "1 -> 2, image v1 -> v1"},
		"wipe":      {[]string{before, `on_destroy = "wipe"`}, "", 3, "1 -> 3, image v1 -> v1"},
		"dependent": {nil, dependent, 2, "1 -> 2, image v1 -> v1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, "applying = terraform.applying")
			lines := append([]string{image("v1")}, test.lines...)
			l.declare(n("n1", lines...), test.more)
			l.Apply()
			l.sledd.Machine(1).Fulfil()
			l.Empty()
			l.wiping(name, []string{"n1: serial:LAB-0001 (4.3 GB), generation " + test.wipes}, "-replace="+n1)
			l.wants(1, "v1", test.to)
			if strings.Contains(l.State(), "deposed") {
				t.Errorf("an object is left over:\n%s", l.State())
			}
			l.sledd.Machine(1).Fulfil()
			l.Empty()
			l.Must("destroy", "-auto-approve")
		})
	}
}

// Without the argument nothing is written, and the state then has an old object only. The way out that the error names
// images nothing.
func TestAccCreateBeforeDestroyWithoutTheArgument(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), before)
	if out := l.Run("apply", "-auto-approve", "-replace="+n1); out.Code == 0 ||
		!strings.Contains(acctest.Flat(out.Text), "terraform state rm ADDRESS, then import it") {
		t.Errorf("%d: %s", out.Code, out.Text)
	}
	l.wants(1, "v1", 1)
	l.Must("state", "rm", n1)
	l.Must("import", n1, "n1")
	l.Empty()
	l.wants(1, "v1", 1)
}

// The argument allows no more than that: a binding that the state does not have is refused in the plan, and one that
// appeared after it by the CLI.
func TestAccCreateOverABindingOfAnotherState(t *testing.T) {
	l := start(t, "applying = terraform.applying")
	l.declare(n("n1", image("v1")))
	saved := l.save()
	other := &lab{CLI: acctest.NewCLI(t, acctest.Config(l.head, n("n1", image("v2")))), sledd: l.sledd, head: l.head}
	other.Apply()
	out := l.Run("apply", saved)
	if out.Code == 0 {
		t.Errorf("applied over the other state:\n%s", out.Text)
	}
	l.wants(1, "v2", 1)
	l.Fails("Node n1 is already bound", "plan")
	l.wants(1, "v2", 1)
}

// An apply that ends between the creation and the removal leaves an object behind. The next one removes that object,
// and neither unbinds nor wipes the machine, which stays declared.
func TestAccEndsBetweenCreateAndRemoval(t *testing.T) {
	for _, way := range []string{"keep", "wipe"} {
		t.Run(way, func(t *testing.T) {
			l := start(t, "applying = terraform.applying")
			body := n("n1", image("v1"), before, `on_destroy = "`+way+`"`)
			follows := func(command string) string {
				run := "  provisioner \"local-exec\" {\n    command = \"" + command + "\"\n  }\n"
				return strings.Replace(dependent, "  lifecycle {", run+"  lifecycle {", 1)
			}
			l.declare(body, follows("true"))
			l.Apply()
			l.sledd.Machine(1).Fulfil()
			l.declare(body, follows("false"))
			if out := l.Run("apply", "-auto-approve", "-replace="+n1); out.Code == 0 {
				t.Fatalf("the dependent did not fail:\n%s", out.Text)
			}
			if !strings.Contains(l.State(), "deposed") {
				t.Fatalf("nothing is left over:\n%s", l.State())
			}
			bound := *l.sledd.Node(1).Binding
			l.declare(body, follows("true"))
			if named := l.wipes(); len(named) > 0 {
				t.Errorf("the plan names %q", named)
			}
			l.Must("apply", "saved")
			if now := l.sledd.Node(1).Binding; now == nil || now.Generation != bound.Generation || now.Image != "v1" ||
				now.Owner != bound.Owner {
				t.Errorf("bound as %+v, before as %+v", now, bound)
			}
			if strings.Contains(l.State(), "deposed") {
				t.Errorf("an object is left over:\n%s", l.State())
			}
			l.Empty()
		})
	}
}
