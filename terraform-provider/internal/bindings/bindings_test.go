// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// block is a sled_bindings; images are of nodes n1, n2 and so on, empty for none.
func block(name string, images []string, more ...string) string {
	var pairs []string
	for i, image := range images {
		if image != "" {
			pairs = append(pairs, fmt.Sprintf("    %q = %q", sleddtest.MAC(i+1), image))
		}
	}
	return fmt.Sprintf("resource \"sled_bindings\" %q {\n  name = %q\n  images = {\n%s\n  }\n  %s\n}\n", name, name,
		strings.Join(pairs, "\n"), strings.Join(more, "\n  "))
}

func images(all ...string) []string { return all }

// site is a sledd with images d12 and d13 and nodes n1 to n4, and a CLI for it.
type site struct {
	*sleddtest.Sledd
	*acctest.CLI
	header string
}

func start(t *testing.T, lines ...string) *site {
	t.Helper()
	return prepare(t, acctest.Start(t), lines...)
}

func prepare(t *testing.T, sledd *sleddtest.Sledd, lines ...string) *site {
	t.Helper()
	s := &site{Sledd: sledd}
	s.Register("d12")
	s.Register("d13")
	for i := range 4 {
		s.Declare(i + 1)
	}
	s.header = acctest.Header(s.URL, lines...)
	s.CLI = acctest.NewCLI(t, acctest.Config(s.header, ""))
	return s
}

func (s *site) declare(body ...string) {
	s.Write(acctest.Config(s.header, strings.Join(body, "\n")))
}

// apply applies a configuration, after which nothing is left to do, and gives what was printed.
func (s *site) apply(body ...string) string {
	s.Helper()
	s.declare(body...)
	out := s.Apply()
	s.Empty()
	return acctest.Flat(out)
}

// plan plans a configuration.
func (s *site) plan(body ...string) string {
	s.Helper()
	s.declare(body...)
	return acctest.Flat(s.Must("plan"))
}

// bound wants images and generations of n1, n2 and so on, such as "d12@1"; empty for none.
func (s *site) bound(want ...string) {
	s.Helper()
	for i, one := range want {
		got := ""
		if b := s.Node(i + 1).Binding; b != nil {
			got = fmt.Sprintf("%s@%d", b.Image, b.Generation)
		}
		if got != one {
			s.Errorf("n%d is bound to %q, want %q", i+1, got, one)
		}
	}
}

// has wants texts to match.
func has(t testing.TB, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no %q in:\n%s", pattern, text)
		}
	}
}

// hasNot wants them not to.
func hasNot(t testing.TB, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%q is in:\n%s", pattern, text)
		}
	}
}

func (s *site) node(i int) api.Node { return s.Sledd.Node(i) }

func TestAccLife(t *testing.T) {
	s := start(t)
	has(t, s.apply(block("x", images("d12", "d12", "d12"))),
		`n1: disk serial:LAB-0001 is wiped and gets image d12 \(generation 0 -> 1\)`)
	s.bound("d12@1", "d12@1", "d12@1", "")
	if owner := s.node(1).Binding.Owner; owner != "terraform:x" {
		t.Errorf("the owner is %q", owner)
	}
	plan := s.plan(block("x", images("d12", "d13", "d12")))
	has(t, plan, `~ generations = \{ ~ "52:54:00:77:00:02" = 1 -> 2 #`,
		`n2: disk serial:LAB-0002 is wiped and gets image d13 \(generation 1 -> 2\)`)
	hasNot(t, plan, "n1:", "n3:", "LAB-0003")
	s.apply(block("x", images("d12", "d13", "d12")))
	s.bound("d12@1", "d13@2", "d12@1")
	hasNot(t, s.apply(block("x", images("", "d13", "d12"))), "is wiped")
	s.bound("", "d13@2", "d12@1")
	has(t, s.apply(block("x", images("", "d13", "d12"), `reimage_triggers = { "52:54:00:77:00:03" = "monday" }`)),
		`n3: .*generation 1 -> 2`)
	s.bound("", "d13@2", "d12@2")
	hasNot(t, s.apply(block("x", images("", "d13", "d12"), `mode = "auto"`)), "is wiped")
	s.bound("", "d13@2", "d12@2")
	if mode := s.node(2).Binding.Mode; mode != "auto" {
		t.Errorf("the mode is %q", mode)
	}
	has(t, s.apply(block("x", images("", "d13", "d12"), `disk = "serial:OTHER"`)), `n2: .*generation 2 -> 3`,
		`n3: .*generation 2 -> 3`)
	s.bound("", "d13@3", "d12@3")
	s.Must("destroy", "-auto-approve")
	s.bound("", "", "")
}

func TestAccDestroyWipes(t *testing.T) {
	s := start(t)
	s.apply(block("x", images("d12", "d12"), `on_destroy = "wipe"`))
	plan := s.plan(block("x", images("d12"), `on_destroy = "wipe"`))
	has(t, plan, `n2: all disks are wiped \(generation 1 -> 2\)`)
	s.apply(block("x", images("d12"), `on_destroy = "wipe"`))
	s.bound("d12@1", "@2")
	if owner := s.node(2).Binding.Owner; owner != "" {
		t.Errorf("the wipe belongs to %q", owner)
	}
	has(t, acctest.Flat(s.Must("plan", "-destroy")), `n1: all disks are wiped \(generation 1 -> 2\)`)
	s.Must("destroy", "-auto-approve")
	s.bound("@2", "@2")
	s.Machine(1).Fulfil()
	if phase := s.node(1).Status.Phase; phase != api.Wiped {
		t.Errorf("n1 is %s", phase)
	}
}

func TestAccDrift(t *testing.T) {
	s := start(t)
	two := images("d12", "d12")
	s.apply(block("x", two))
	s.Bind(api.BindingSpec{Node: "n2", Image: "d13", Owner: "terraform:x"})
	has(t, s.plan(block("x", two)), `1 machines are bound differently`,
		`n2 \(52:54:00:77:00:02\): bound to image d13 instead of image d12, at generation 2`, "No changes")
	s.Empty()
	has(t, s.apply(block("x", images("d13", "d12"))), `n1: .*gets image d13`)
	s.bound("d13@2", "d13@2")
	s.declare(block("x", images("d13", "d12"), `disk = "serial:OTHER"`))
	s.Fails(`this change would wipe that .*n2 .*Set on_drift = "reimage"`, "plan")
	hasNot(t, s.apply(block("x", images("d13", "d12"), `on_drift = "ignore"`)), "otherwise")
	s.bound("d13@2", "d13@2")
	has(t, s.plan(block("x", images("d13", "d12"), `on_drift = "reimage"`)), `"52:54:00:77:00:02" = 1 -> 3`,
		`n2: .*gets image d12 \(generation 2 -> 3\)`)
	s.apply(block("x", images("d13", "d12"), `on_drift = "reimage"`))
	s.bound("d13@2", "d12@3")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Owner: "terraform:x"})
	s.apply(block("x", two, `on_drift = "warn"`)) // what is bound is declared now
	s.bound("d12@3", "d12@3")
	if err := s.Client().DeleteBinding(t.Context(), "n1", api.As("terraform:x")); err != nil {
		t.Fatal(err)
	}
	const absent = `n1 \(52:54:00:77:00:01\): not bound any more, after generation 3`
	has(t, s.plan(block("x", two)), `1 machines are bound differently`, absent)
	s.declare(block("x", two, `on_drift = "fail"`))
	s.Fails(absent+`.*because on_drift is "fail"`, "plan")
	s.bound("", "d12@3")
	s.apply(block("x", two, `on_drift = "reimage"`))
	s.bound("d12@1", "d12@3")
	s.apply(block("x", two))
	s.Bind(api.BindingSpec{Node: "n2", Image: "d12", Owner: "terraform:x"}, api.Reimage())
	s.Empty() // the same desired state again is no drift
}

func TestAccOwners(t *testing.T) {
	s := start(t)
	s.apply(block("x", images("d12", "d12")))
	s.declare(block("x", images("d12", "d12")), block("y", images("", "d13", "d13")))
	s.Fails(`Machines are bound by somebody else .*n2 \(52:54:00:77:00:02\) belongs to terraform:x`, "plan")
	s.bound("d12@1", "d12@1", "")
	s.Bind(api.BindingSpec{Node: "n2", Image: "d13", Owner: "else"}, api.TakeOver())
	has(t, s.plan(block("x", images("d12", "d12"))), `bound differently`, `n2 .*by else`)
	s.declare(block("x", images("d12", "d13")))
	s.Fails(`belongs to else`, "plan")
	s.apply(block("x", images("d12")))
	s.bound("d12@1", "d13@2")
	s.Bind(api.BindingSpec{Node: "n3", Image: "d12"})
	s.Bind(api.BindingSpec{Node: "n4", Image: "d12"})
	has(t, s.apply(block("x", images("d12", "", "d12", "d13"))), `n4: .*generation 1 -> 2`)
	s.bound("d12@1", "d13@2", "d12@1", "d13@2")
	if owner := s.node(3).Binding.Owner; owner != "terraform:x" {
		t.Errorf("n3 belongs to %q", owner)
	}
}

func TestAccTwoAtOnce(t *testing.T) {
	s := start(t)
	s.declare(block("x", images("d12", "d12")), block("y", images("", "d13", "d13")))
	out := s.Run("apply", "-auto-approve")
	if out.Code == 0 {
		t.Errorf("both had n2:\n%s", out.Text)
	}
	has(t, acctest.Flat(out.Text), `Two resources bind the machine with MAC 52:54:00:77:00:02`)
	if n1, n3 := s.node(1).Binding, s.node(3).Binding; n1 != nil || n3 != nil {
		t.Errorf("want none of the two: %v, %v", n1, n3)
	}
}

func TestAccChangedBetweenPlanAndApply(t *testing.T) {
	s := start(t)
	s.apply(block("x", images("d12", "d12", "d12")))
	s.Must("apply", "-refresh-only", "-auto-approve") // what it wiped is of that plan
	s.declare(block("x", images("d13", "d13", "d12")))
	s.Must("plan", "-out=saved")
	s.Bind(api.BindingSpec{Node: "n2", Image: "d13", Owner: "terraform:x"}, api.Reimage())
	s.Bind(api.BindingSpec{Node: "n2", Image: "d12", Owner: "terraform:x"}, api.Reimage())
	s.Fails(`Changed since the plan was made.*n2.*Plan again`, "apply", "saved")
	s.bound("d12@1", "d12@3", "d12@1")
	s.apply(block("x", images("d13", "d13", "d12")))
	s.bound("d13@2", "d13@4", "d12@1")
}

func TestAccUndeclared(t *testing.T) {
	s := start(t)
	s.declare(block("x", images("d12", "", "", "", "d12")))
	s.Fails(`Machines are not declared.*this plan: 52:54:00:77:00:05`, "plan")
	node := `resource "sled_node" "n5" {
  mac  = "52:54:00:77:00:05"
  name = "n5"
  disk = "serial:LAB-0005"
}`
	s.declare(node, block("x", images("d12", "", "", "", "none"), "depends_on = [sled_node.n5]"))
	s.Fails(`52:54:00:77:00:05: image none does not exist`, "plan")
	s.declare(node, block("x", images("none"), "depends_on = [sled_node.n5]"))
	s.Fails(`image none does not exist`, "plan")
	s.declare(node, block("x", images("d12", "", "", "", "d12"), "depends_on = [sled_node.n5]"))
	has(t, acctest.Flat(s.Must("plan")), `"52:54:00:77:00:05" = \(known after apply\)`, `"52:54:00:77:00:01" = 1`,
		`52:54:00:77:00:05: disk of the node is wiped and gets image d12`)
	s.Apply()
	s.bound("d12@1", "", "", "", "d12@1")
}

func TestAccLimits(t *testing.T) {
	s := start(t)
	s.apply(block("x", images("d12", "d12", "d12"), "max_reimages = 2"))
	s.declare(block("x", images("d13", "d13", "d13"), "max_reimages = 2"))
	s.Fails(`max_reimages is 2, this plan images 3: n1, n2, n3`, "plan")
	s.apply(block("x", images("d13", "d13", "d13"), "max_reimages = 3"))
	s.bound("d13@2", "d13@2", "d13@2")
	unknown := "resource \"terraform_data\" \"t\" { input = \"only\" }\n"
	s.declare(unknown, block("x", images("d13", "d13", "d13"), "max_reimages = 2",
		"disk = terraform_data.t.output"))
	s.Fails(`max_reimages is 2, this plan images 3: n1, n2, n3`, "plan")
	has(t, s.apply(unknown, block("x", images("d13", "d13", "d13"), "max_reimages = 3",
		"disk = terraform_data.t.output")), `generation 2 -> a later one`)
	s.bound("d13@3", "d13@3", "d13@3")
	s.apply(unknown, block("x", images("d13", "d13", "d13")))
	s.header = acctest.Header(s.URL, "max_reimages = 1")
	s.declare(block("x", images("d12", "d12", "d13")))
	s.Fails(`max_reimages of the provider is 1.*n1, n2`, "plan")
}

func TestAccImport(t *testing.T) {
	s := start(t)
	secret := func(text string) {
		if err := os.WriteFile(filepath.Join(s.Dir, "user-data"), []byte("#cloud-config "+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secret("hush")
	body := block("x", images("d12", "d13"), `user_data = file("user-data")`, `mode = "auto"`,
		`authorized_keys = ["`+sshkeys.Alice+` a"]`,
		`reimage_triggers = { "52:54:00:77:00:01" = "monday" }`)
	s.apply(body)
	s.Must("plan", "-out=saved")
	s.NoSecret("saved", "hush", s.Token)
	s.Must("state", "rm", "sled_bindings.x")
	s.Must("import", "sled_bindings.x", "x")
	hasNot(t, s.plan(body), "is wiped", "generations")
	s.apply(body)
	s.bound("d12@1", "d13@1")
	plain := block("y", images("", "", "d12"))
	s.apply(body, plain)
	s.Must("state", "rm", "sled_bindings.y")
	s.Must("import", "sled_bindings.y", "y")
	s.Empty()
	if out := s.Run("import", "sled_bindings.z", "z"); out.Code == 0 {
		t.Errorf("nothing is bound by z:\n%s", out.Text)
	}
	secret("other")
	hasNot(t, s.apply(body, plain), "is wiped")
	s.bound("d12@1", "d13@1")
	s.Empty()
}

func TestAccReplaced(t *testing.T) {
	s := start(t)
	s.apply(block("x", images("d12", "d12")))
	s.Machine(1).Fulfil()
	has(t, acctest.Flat(s.Must("plan", "-replace=sled_bindings.x")), `"52:54:00:77:00:01" = 1 -> 2`)
	s.Apply("-replace=sled_bindings.x")
	s.Empty()
	s.bound("d12@2", "d12@1") // n2 never had its first image
}

func TestAccNameInUse(t *testing.T) {
	s := start(t)
	s.apply(block("x", images("d12", "d12")))
	s.Must("state", "rm", "sled_bindings.x")
	s.declare(block("x", images("", "d12", "d12")))
	s.Fails(`name is in use.*bound by terraform:x: n1 \(52:54:00:77:00:01\)\..*import`, "plan")
	s.apply(block("x", images("d12", "d12", "d12"))) // as after an apply that was cut short
	s.bound("d12@1", "d12@1", "d12@1")
}
