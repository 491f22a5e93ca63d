// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// begin starts a sledd that has both images, and opens a guide's configuration at it.
func begin(t *testing.T, guide string) (*sleddtest.Sledd, *acctest.CLI) {
	t.Helper()
	s := acctest.StartAlone(t)
	t.Setenv("SLED_SERVER", s.URL)
	s.Register("debian-12-v1")
	s.Register("debian-12-v2")
	return s, open(t, filepath.Join(shown, "guides", guide))
}

// reimage is what playbooks/reimage.yml does: machines boot and do what their bindings request.
func reimage(s *sleddtest.Sledd, machines ...int) {
	for _, i := range machines {
		s.Machine(i).Fulfil()
	}
}

// says wants these texts in what a command printed.
func says(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(acctest.Flat(text), want) {
			t.Errorf("nothing says %q:\n%s", want, text)
		}
	}
}

// quoted wants these texts in what a command printed, and in the guide.
func quoted(t *testing.T, guide, printed string, texts ...string) {
	t.Helper()
	says(t, printed, texts...)
	page, err := os.ReadFile(filepath.Join("../../templates/guides", guide+".md.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	says(t, string(page), texts...)
}

func TestAccFirstNode(t *testing.T) {
	s, cli := begin(t, "first-node")
	s.Machine(1).Facts()
	quoted(t, "first-node", cli.Must("plan"), "n1: disk serial:LAB-0001 is wiped and gets image debian-12-v1 "+
		"(generation 0 -> 1)")
	cli.Apply()
	reimage(s, 1)
	cli.Empty()
	cli.Apply("-refresh-only")
	says(t, cli.Must("state", "show", "sled_binding.n1"), `phase = "operational"`, "generation = 1",
		"observed_generation = 1")

	text := read(t, filepath.Join(shown, "guides/first-node"), "*.tf")
	cli.Write(strings.ReplaceAll(text, "debian-12-v1", "debian-12-v2"))
	plan := cli.Must("plan")
	says(t, plan, "generation = 1 -> 2", "n1: disk serial:LAB-0001 is wiped and gets image "+
		"debian-12-v2 (generation 1 -> 2)", "1 to change")
	shows(t, "first-node/change.txt", plan, true)
	cli.Apply()
	reimage(s, 1)
	cli.Empty()
	cli.Must("state", "rm", "sled_binding.n1")
	quoted(t, "first-node", cli.Run("plan").Text, "Node n1 is already bound")
}

func TestAccARack(t *testing.T) {
	s, cli := begin(t, "a-rack")
	cli.Apply()
	reimage(s, 1, 2, 3)
	cli.Apply("-var", "wait=true")
	cli.Apply()
	cli.Empty()

	nodes := filepath.Join(shown, "guides/a-rack/nodes.yml")
	change(t, nodes, filepath.Join(cli.Dir, "nodes.yml"), "debian-12-v1", "debian-12-v2")
	cli.Fails("Too many machines would be imaged again.*max_reimages of the provider is 2.*n1, n2, n3", "plan")

	change(t, nodes, filepath.Join(cli.Dir, "nodes.yml"), `LAB-0001", image: debian-12-v1`,
		`LAB-0001", image: debian-12-v2`)
	plan := cli.Must("plan")
	says(t, plan, "generation = 1 -> 2", "n1: disk serial:LAB-0001", "1 to change")
	shows(t, "a-rack/change.txt", plan, false)
	cli.Apply()
	reimage(s, 1)
	cli.Empty()
}

func TestAccTenThousandNodes(t *testing.T) {
	s, cli := begin(t, "ten-thousand-nodes")
	s.DeclareMany(5)
	cli.Apply()
	reimage(s, 1, 2, 3, 4)
	cli.Empty()

	change(t, filepath.Join(shown, "guides/ten-thousand-nodes/nodes.csv"), filepath.Join(cli.Dir, "nodes.csv"),
		"03,b,debian-12-v1", "03,b,debian-12-v2")
	plan := cli.Must("plan")
	says(t, plan, `"52:54:00:77:00:03" = 1 -> 2`, "1 to change")
	shows(t, "ten-thousand-nodes/change.txt", plan, false)
	cli.Apply()
	cli.Empty()
	if b := s.Node(3).Binding; b.Image != "debian-12-v2" || b.Owner != "terraform:rack-b" {
		t.Errorf("n3 is bound to %s by %s", b.Image, b.Owner)
	}
}

func TestAccGrowing(t *testing.T) {
	s, cli := begin(t, "growing/before")
	s.Declare(1)
	s.Declare(2)
	cli.Apply()
	reimage(s, 1, 2)
	cli.Write(read(t, filepath.Join(shown, "guides/growing/after"), "*.tf"))
	plan := cli.Must("plan")
	quoted(t, "growing", plan, "2 bindings are taken over as they are")
	says(t, plan, "1 to add, 0 to change, 0 to destroy",
		"n1 (52:54:00:77:00:01), from terraform, at generation 1")
	cli.Apply()
	cli.Empty()
	for i := 1; i <= 2; i++ {
		if b := s.Node(i).Binding; b.Generation != 1 || b.Owner != "terraform:rack-a" || b.Mode != "delta" || !b.Satisfied {
			t.Errorf("n%d: %+v", i, b)
		}
	}
	back := strings.Split(read(t, filepath.Join(shown, "guides/growing/after"), "*.tf"), "removed {")[0] +
		"resource \"sled_binding\" \"n1\" {\n  node = \"n1\"\n  image = \"debian-12-v1\"\n  mode = \"delta\"\n" +
		"  verify = \"full\"\n}\n"
	cli.Write(back + "import {\n  to = sled_binding.n1\n  id = \"52:54:00:77:00:01\"\n}\n")
	says(t, cli.Must("plan"), "1 to import")
	cli.Apply()
	cli.Write(strings.Replace(back, "    \"52:54:00:77:00:01\" = \"debian-12-v1\"\n", "", 1))
	says(t, cli.Must("plan"), "0 to add, 1 to change, 0 to destroy")
	cli.Apply()
	if b := s.Node(1).Binding; b == nil || b.Generation != 1 || b.Owner != "terraform" {
		t.Errorf("n1, back: %+v", b)
	}
	cli.Empty()
}

func TestAccDrift(t *testing.T) {
	s, cli := begin(t, "drift")
	for i := 1; i <= 3; i++ {
		s.Declare(i)
	}
	cli.Apply()
	reimage(s, 1, 2, 3)
	cli.Empty()
	for _, node := range []string{"n1", "n2", "n3"} {
		s.Bind(api.BindingSpec{Node: node, Image: "debian-12-v2", Owner: "terraform"})
	}
	plan := cli.Must("plan")
	says(t, plan, "0 to add, 1 to change, 0 to destroy", "sled_binding.reimage", "n1", "debian-12-v2")
	shows(t, "drift/plan.txt", plan, false)
	if strings.Contains(plan, "n3") {
		t.Errorf("the plan speaks of n3, which is to be ignored:\n%s", plan)
	}
	cli.Apply()
	if b := s.Node(2).Binding; b.Image != "debian-12-v1" || b.Generation != 3 {
		t.Errorf("n2 is bound to %s, generation %d", b.Image, b.Generation)
	}
	cli.Empty()

	s.Register("rescue-1")
	s.Bind(api.BindingSpec{Node: "n1", Image: "rescue-1", Owner: "terraform"})
	quoted(t, "drift", cli.Must("plan"), "n1 is bound to image rescue-1 instead of image debian-12-v1, at generation 3",
		"Somebody else changed the binding. The plan changes nothing (on_drift = \"warn\"). To get what is declared, set "+
			"on_drift = \"reimage\" or another reimage_trigger; to keep what is bound, declare it.")
	if err := s.Client().DeleteBinding(t.Context(), "n1", api.As("terraform")); err != nil {
		t.Fatal(err)
	}
	quoted(t, "drift", cli.Must("plan"), "n1 is not bound any more, after generation 2")
	t.Setenv("SLED_SERVER", acctest.StartAlone(t).URL)
	quoted(t, "drift", cli.Run("plan").Text, "This state belongs to fleet ", ", the server is fleet ")
}

func TestAccTearDown(t *testing.T) {
	s, cli := begin(t, "tear-down")
	cli.Apply()
	reimage(s, 1)
	cli.Empty()
	shows(t, "tear-down/destroy.txt", cli.Must("plan", "-destroy"), true)
	out := cli.Run("destroy", "-auto-approve")
	quoted(t, "tear-down", out.Text, "Node n1 is wiped at its next boot")
	if out.Code == 0 {
		t.Errorf("n1 was forgotten before it was wiped:\n%s", out.Text)
	}
	quoted(t, "tear-down", out.Text, "n1 is not wiped yet (generation 2, phase operational)",
		"Run playbooks/wipe.yml --limit n1, then destroy again. To cancel the wipe: sledctl unbind n1.")
	reimage(s, 1)
	cli.Must("destroy", "-auto-approve")
}

func TestAccCI(t *testing.T) {
	s, cli := begin(t, "ci")
	s.Declare(1)
	s.Declare(2)
	cli.Must("plan", "-out=plan.tfplan")
	cli.Apply("plan.tfplan")
	reimage(s, 1, 2)
	cli.Empty()

	both := []string{"-var", `images={n1="debian-12-v2",n2="debian-12-v2"}`}
	cli.Fails("max_reimages of the provider is 1.*n1, n2", "plan", both...)
	one := []string{"-out=plan.tfplan", "-var", `images={n1="debian-12-v2",n2="debian-12-v1"}`}
	says(t, cli.Must("plan", one...), "1 to change")
	s.Bind(api.BindingSpec{Node: "n1", Image: "debian-12-v1", Hostname: "other", Owner: "ci"})
	out := cli.Run("apply", "plan.tfplan")
	quoted(t, "first-node", out.Text, "Changed since the plan was made")
	quoted(t, "drift", out.Text, "Changed since the plan was made: could not bind node n1")
	if b := s.Node(1).Binding; out.Code != 1 || b.Image != "debian-12-v1" {
		t.Errorf("exit code %d, n1 is bound to %s", out.Code, b.Image)
	}
}
