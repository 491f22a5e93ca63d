// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// another is a second configuration of the same fleet, under another name.
func (l *lab) another(owner, body string) *lab {
	l.Helper()
	head := acctest.Header(l.sledd.URL, `owner = "`+owner+`"`)
	return &lab{CLI: acctest.NewCLI(l.TB, acctest.Config(head, body)), sledd: l.sledd, head: head}
}

const mac1 = "52:54:00:77:00:01"

// Two configurations declare one machine: the second is refused when it plans, and is told how to import.
func TestAccTwoOwners(t *testing.T) {
	a := start(t, `owner = "a"`)
	a.bound(image("v1"))
	b := a.another("b", n("n1", image("v2")))
	b.Fails("Error: Node n1 is already bound.*bound to image v1, at generation 1, and belongs to a; this "+
		"provider declares as b.*"+
		"terraform import ADDRESS "+mac1, "plan")
	a.wants(1, "v1", 1)
	a.Empty()
}

// An import is the consent to take over: nothing is written by it, the next change says so and does it, and then the
// first owner is refused.
func TestAccImportFromAnotherOwner(t *testing.T) {
	a := start(t, `owner = "a"`)
	a.bound(image("v1"))
	b := a.another("b", n("n1", image("v1")))
	b.Must("import", n1, "n1")
	b.Empty()
	if owner := a.sledd.Node(1).Binding.Owner; owner != "a" {
		t.Errorf("the import made %s the owner", owner)
	}
	b.declare(n("n1", image("v2")))
	b.has(b.plan(2), "Warning: The binding of n1 is taken over from a", "~ generation = 1 -> 2")
	b.Apply()
	if got := a.wants(1, "v2", 2); got.Owner != "b" {
		t.Errorf("the owner is %s", got.Owner)
	}
	b.Empty()
	a.declare(n("n1", image("v3"), `on_drift = "reimage"`))
	a.Fails("Error: The binding of n1 now belongs to b", "plan")
	a.declare()
	a.Fails("Error: The binding of n1 now belongs to b.*terraform state rm", "plan")
	a.wants(1, "v2", 2)
}

// The provider's owner may be renamed: what the state declared goes along with its next change, and can be taken back.
func TestAccAnotherNameOfTheOwner(t *testing.T) {
	l := start(t, `owner = "a"`)
	l.bound(image("v1"))
	l.head = acctest.Header(l.sledd.URL, `owner = "c"`)
	l.declare(n("n1", image("v1")))
	l.Empty()
	l.declare(n("n1", image("v1"), `mode = "delta"`))
	l.has(l.plan(2), "taken over from a")
	l.Apply()
	if b := l.wants(1, "v1", 1); b.Owner != "c" {
		t.Errorf("the owner is %s", b.Owner)
	}
	l.Must("destroy", "-auto-approve")
}

// Imported by MAC, in any spelling, or by name, whatever the configuration uses: the plan after is empty, user data
// included.
func TestAccImport(t *testing.T) {
	for id, node := range map[string]string{"n1": mac1, mac1: "n1", "52-54-00-77-00-01": "52:54:00:77:00:01"} {
		t.Run(id, func(t *testing.T) {
			l := start(t)
			l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Disk: "serial:X", Wipe: "signatures",
				Mode: "delta", Verify: "full", AllowUnsigned: true, Boot: "kexec",
				Hostname: "h.example", AuthorizedKeys: []string{sshkeys.Alice + " a"}, UserData: "#cloud-config\n",
				KernelArguments: "quiet", Owner: "terraform"})
			l.sledd.Machine(1).Fulfil()
			all := `
resource "sled_binding" "n1" {
  node             = "` + node + `"
  image            = "v1"
  disk             = "serial:X"
  wipe             = "signatures"
  mode             = "delta"
  verify           = "full"
  allow_unsigned   = true
  boot             = "kexec"
  hostname         = "h.example"
  authorized_keys  = ["` + sshkeys.Alice + ` a"]
  user_data        = "#cloud-config\n"
  kernel_arguments = "quiet"
}`
			l.declare(all)
			l.Must("import", n1, id)
			l.Empty()
			l.wants(1, "v1", 1)
			l.Must("state", "rm", n1)
			l.declare(all, `import {
  to = sled_binding.n1
  id = "`+id+`"
}`)
			l.has(l.plan(2), "1 to import, 0 to add, 0 to change, 0 to destroy")
			l.Apply()
			l.Empty()
		})
	}
}

// Imported by identity, where the CLI has it.
func TestAccImportByIdentity(t *testing.T) {
	acctest.SkipBelow(t, "1.12.0", "1.12.0")
	l := start(t)
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Owner: "terraform"})
	l.declare(n("n1", image("v1")), `import {
  to       = sled_binding.n1
  identity = { mac = "`+mac1+`" }
}`)
	l.has(l.plan(2), "1 to import, 0 to add, 0 to change, 0 to destroy")
	l.Apply()
	l.Empty()
	l.wants(1, "v1", 1)
}

// A trigger that is configured when a node is imported wipes nothing; the next other text does.
func TestAccImportTakesTheTrigger(t *testing.T) {
	l := start(t)
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1"})
	l.declare(n("n1", image("v1"), `reimage_trigger = "1"`))
	l.Must("import", n1, "n1")
	l.hasNot(l.plan(2), "generation", "wiped")
	l.Apply()
	l.wants(1, "v1", 1)
	l.Empty()
	l.declare(n("n1", image("v1"), `reimage_trigger = "2"`))
	l.has(l.plan(2), "1 -> 2")
}

// What cannot be imported says why.
func TestAccImportOfNothing(t *testing.T) {
	l := start(t)
	l.declare(n("n1", image("v1")))
	l.Fails(`Node "n9" does not exist`, "import", n1, "n9")
	l.Fails("Node n1 is not bound.*declare the binding and apply", "import", n1, "n1")
	l.sledd.Bind(api.BindingSpec{Node: "n1", Capture: "gold"})
	l.Fails("Node n1 is to be captured as image gold", "import", n1, "n1")
}

// on_destroy = keep removes the binding and nothing else.
func TestAccDestroyKeeps(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare()
	l.hasNot(l.plan(2), "Warning")
	l.Apply()
	if node := l.sledd.Node(1); node.Binding != nil || node.Status.Phase != api.Operational {
		t.Errorf("%+v", node)
	}
	l.Empty()
}

// on_destroy = wipe leaves a binding without an owner that wipes the disk: plan and apply warn, and the machine wipes.
func TestAccDestroyWipes(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), `disk = "serial:X"`, `wipe = "signatures"`, `on_destroy = "wipe"`)
	l.declare()
	l.has(l.plan(2), "1 to destroy", "Warning: n1: all disks are wiped (generation 1 -> 2)")
	l.has(acctest.Flat(l.Apply()), "Warning: Node n1 is wiped at its next boot", "playbooks/wipe.yml --limit n1")
	if b := l.wants(1, "", 2); b.Owner != "" || b.Disk != "serial:X" || b.Wipe != "signatures" ||
		b.UserDataSHA256 != "" {
		t.Errorf("left: %+v", b)
	}
	l.sledd.Machine(1).Fulfil()
	if node := l.sledd.Node(1); node.Status.Phase != api.Wiped || !node.Binding.Satisfied {
		t.Errorf("%+v", node)
	}
	// anybody may replace that binding, one generation up
	l.declare(n("n1", image("v2")))
	l.has(l.plan(2), "1 to add", "+ generation = 3")
	l.Apply()
	l.wants(1, "v2", 3)
}

// A binding that is gone already is destroyed already.
func TestAccDestroyOfWhatIsGone(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare()
	saved := l.save()
	if err := l.sledd.Client().DeleteBinding(t.Context(), "n1", api.As("terraform")); err != nil {
		t.Fatal(err)
	}
	l.Must("apply", saved)
	l.Empty()
}

// -replace removes the binding and creates it again. The CLI drops the warning of such a plan; the machine counts for
// max_reimages all the same.
func TestAccReplace(t *testing.T) {
	for way, generation := range map[string]int64{"keep": 2, "wipe": 3} {
		t.Run(way, func(t *testing.T) {
			l := start(t)
			l.bound(image("v1"), `on_destroy = "`+way+`"`)
			l.has(l.plan(2, "-replace="+n1), "will be replaced, as requested",
				fmt.Sprintf("~ generation = 1 -> %d", generation),
				fmt.Sprintf("+ wipes = \"n1: serial:LAB-0001 (4.3 GB), generation 1 -> %d, image v1 -> v1\"", generation))
			if text := acctest.Flat(l.Apply("-replace=" + n1)); way == "wipe" {
				l.has(text, "If this apply replaces the resource, the new binding takes its place")
			}
			l.wants(1, "v1", generation)
			l.sledd.Machine(1).Fulfil()
			l.Empty()
			l.head = acctest.Header(l.sledd.URL, "max_reimages = 0")
			l.declare(n("n1", image("v1"), `on_destroy = "`+way+`"`))
			l.refused("Too many machines would be imaged again.* n1\\.", "plan", "-replace="+n1)
		})
	}
}

// Another node replaces the binding; another spelling of the same, or another name that the machine was given, does
// not.
func TestAccAnotherNode(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	to := func(node string) string {
		return "resource \"sled_binding\" \"n1\" {\n  node = \"" + node + "\"\n  image = \"v1\"\n}\n"
	}
	l.declare(to(mac1))
	l.Empty()

	spec := l.sledd.Node(1).NodeSpec
	spec.Name = "renamed"
	if _, err := l.sledd.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	l.declare(to("renamed"))
	l.Empty()

	l.declare(to("n3"))
	l.has(l.plan(2), "forces replacement", "Warning: n3: disk serial:LAB-0003 is wiped and gets image v1 "+
		"(generation 0 -> 1)")
	l.Apply()
	l.wants(3, "v1", 1)
	if l.sledd.Node(1).Binding != nil {
		t.Error("the old node is still bound")
	}
	l.Empty()
}

// A list of nodes shifts by one: each binding would move on to a node that is bound, and wipe it. The plan fails and
// says what helps.
func TestAccListShifts(t *testing.T) {
	l := start(t)
	list := func(nodes string) string {
		return "resource \"sled_binding\" \"all\" {\n  count = length(" + nodes + ")\n  node  = " + nodes +
			"[count.index]\n  image = \"v1\"\n}\n"
	}
	l.declare(list(`["n1", "n2", "n3"]`))
	l.Apply()
	l.declare(list(`["n2", "n3"]`))
	l.Fails("Node n2 is already bound.*moved block", "plan")
	l.declare(list(`["n2", "n1", "n3"]`))
	l.Fails("Node n1 is already bound", "plan")
}
