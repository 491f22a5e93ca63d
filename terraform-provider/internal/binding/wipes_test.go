// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// wipes is what examples/ci/wipes.jq prints of a plan, sorted; the plan is saved as "saved".
func (l *lab) wipes(arguments ...string) []string {
	l.Helper()
	l.Must("plan", append([]string{"-out=saved"}, arguments...)...)
	json := filepath.Join(l.Dir, "saved.json")
	if err := os.WriteFile(json, []byte(l.Must("show", "-json", "saved")), 0o600); err != nil {
		l.Fatal(err)
	}
	out, err := exec.CommandContext(l.Context(), "jq", "-r", "-f", "../../examples/ci/wipes.jq", json).CombinedOutput()
	if err != nil {
		l.Fatalf("jq: %v: %s", err, out)
	}
	lines := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(string(out), " ", "_"), "\n", " "))
	slices.Sort(lines)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "_", " ")
	}
	return lines
}

// generations of all nodes, 0 for one that is not bound.
func (l *lab) generations() map[string]int64 {
	l.Helper()
	all := map[string]int64{}
	for node, err := range l.sledd.Client().Nodes(l.Context(), api.Filter{}) {
		if err != nil {
			l.Fatal(err)
		}
		if node.Binding != nil {
			all[node.Name] = node.Binding.Generation
		}
	}
	return all
}

// fleet is the UUID of the fleet.
func (l *lab) fleet() string {
	l.Helper()
	store, err := l.sledd.Client().Store(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	return store.Fleet
}

// wiping checks that a plan names these wipes, and that its apply raises the generations of no other machines.
func (l *lab) wiping(name string, wanted []string, arguments ...string) {
	l.Helper()
	before, got := l.generations(), l.wipes(arguments...)
	if !slices.Equal(got, wanted) {
		l.Errorf("%s: the plan names %q, want %q", name, got, wanted)
	}
	l.Must("apply", "saved")
	for node, generation := range l.generations() {
		named := slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, node+":") })
		if raised := generation > before[node]; raised != named {
			l.Errorf("%s: %s has generation %d after %d, and the plan names %q", name, node, generation, before[node], got)
		}
	}
	l.Empty()
}

// Every wipe is in the diff, whatever the plan does, and nothing else is.
func TestAccWipesAreInThePlan(t *testing.T) {
	l := start(t)
	const pair = `
resource "sled_bindings" "x" {
  name   = "x"
  images = { "52:54:00:77:00:02" = "v1", "52:54:00:77:00:03" = "%" }
}
resource "terraform_data" "cfg" {
  input = "$"
}
`
	with := func(image, config string) string {
		return strings.NewReplacer("%", image, "$", config).Replace(pair)
	}
	triggered := "lifecycle {\n    replace_triggered_by = [terraform_data.cfg]\n  }"
	wipe := `on_destroy = "wipe"`
	l.declare(with("v1", "a"), n("n1", image("v1"), triggered))
	l.wiping("first images", []string{"n1: serial:LAB-0001, generation 0 -> 1, image none -> v1",
		"n2: serial:LAB-0002, generation 0 -> 1, image none -> v1",
		"n3: serial:LAB-0003, generation 0 -> 1, image none -> v1"})
	for i := range 3 {
		l.sledd.Machine(i + 1).Fulfil()
	}
	l.declare(with("v1", "a"), n("n1", image("v1"), triggered, `mode = "delta"`))
	l.wiping("another mode", nil)
	l.declare(with("v2", "a"), n("n1", image("v2"), triggered))
	l.wiping("another image", []string{"n1: serial:LAB-0001 (4.3 GB), generation 1 -> 2, image v1 -> v2",
		"n3: serial:LAB-0003, generation 1 -> 2, image v1 -> v2"})
	l.sledd.Machine(1).Fulfil()
	l.declare(with("v2", "b"), n("n1", image("v2"), triggered))
	l.wiping("replace_triggered_by", []string{"n1: serial:LAB-0001 (4.3 GB), generation 2 -> 3, image v2 -> v2"})
	l.sledd.Machine(1).Fulfil()
	l.wiping("-replace", []string{"n1: serial:LAB-0001 (4.3 GB), generation 3 -> 4, image v2 -> v2"}, "-replace="+n1)
	l.sledd.Machine(1).Fulfil()
	l.declare(with("v2", "b"), n("n1", image("v2"), wipe))
	l.wiping("on_destroy alone", nil)
	l.wiping("-replace with a wipe", []string{"n1: serial:LAB-0001 (4.3 GB), generation 4 -> 6, image v2 -> v2"},
		"-replace="+n1)
	l.sledd.Machine(1).Fulfil()
	l.declare(with("v2", "b"), "resource \"sled_binding\" \"n1\" {\n  node = \"n4\"\n  image = \"v1\"\n}")
	l.wiping("another node", []string{"n1: all disks, generation 6 -> a later one, image v2 -> none",
		"n4: serial:LAB-0004, generation 0 -> 1, image none -> v1"}, "-target="+n1)
}

// What depends on the apply is named too, and a destroy that wipes.
func TestAccWipesThatAreNotKnown(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), `on_destroy = "wipe"`)
	l.declare(chosen("v2"))
	if got := l.wipes(); !slices.Equal(got, []string{"n1: known after apply"}) {
		t.Errorf("an image that is not known: %q", got)
	}
	l.declare(n("n1", image("v1"), `on_destroy = "wipe"`), `
resource "sled_node" "n9" {
  mac  = "52:54:00:77:00:09"
  name = "n9"
  disk = "serial:LAB-0009"
}
resource "sled_binding" "n9" {
  node  = sled_node.n9.name
  image = "v1"
}`)
	if got := l.wipes(); !slices.Equal(got, []string{"n9: known after apply"}) {
		t.Errorf("a node of the same apply: %q", got)
	}
	l.Must("apply", "saved")
	l.Empty()
	want := []string{"n1: all disks, generation 1 -> a later one, image v1 -> none"}
	if got := l.wipes("-destroy"); !slices.Equal(got, want) {
		t.Errorf("a destroy: %q", got)
	}
	l.head = acctest.Header(l.sledd.URL)
}

// An empty store, an older one and a server of another fleet: what the state knows as bound is imaged only on request.
func TestAccLostStore(t *testing.T) {
	l := start(t)
	const node = `
resource "sled_node" "n9" {
  mac  = "52:54:00:77:00:09"
  name = "n9"
  disk = "serial:LAB-0009"
}
resource "sled_binding" "n9" {
  node     = sled_node.n9.mac
  image    = "v1"
  on_drift = "%"
}
resource "sled_bindings" "x" {
  name     = "x"
  images   = { "52:54:00:77:00:02" = "v1", "52:54:00:77:00:03" = "v1" }
  on_drift = "%"
}`
	warn, reimage := strings.ReplaceAll(node, "%", "warn"), strings.ReplaceAll(node, "%", "reimage")
	l.declare(warn)
	l.Apply()
	was := l.fleet()
	l.sledd = acctest.StartAlone(t)
	l.head = acctest.Header(l.sledd.URL)
	l.declare(warn)
	l.Fails("belongs to fleet "+was+", the server is fleet "+l.fleet(), "plan")
	l.Fails("belongs to fleet "+was+", the server is fleet "+l.fleet(), "destroy", "-auto-approve", "-refresh=false")
	l.head = acctest.Header(l.sledd.URL, `fleet = "`+was+`"`)
	l.declare(warn)
	l.Fails("The provider is for fleet "+was+"; the fleet of \\S+ is "+l.fleet(), "plan")
	l.head = acctest.Header(l.sledd.URL, `fleet = "`+l.fleet()+`"`)
	l.declare(warn)
	if got := l.wipes(); len(got) > 0 {
		t.Errorf("the plan names %q", got)
	}
	text := acctest.Flat(l.Apply())
	l.has(text, "n9 is not known to sledd any more, after generation 1", "52:54:00:77:00:03: not bound any more")
	l.sledd.Declare(2)
	l.sledd.Declare(3)
	l.sledd.Register("v1")
	l.Apply()
	if bound := l.generations(); len(bound) > 0 {
		t.Errorf("bound without a request: %v", bound)
	}
	l.head = acctest.Header(l.sledd.URL, "max_reimages = 2") // the state is of this fleet now
	l.declare(reimage)
	l.Fails("max_reimages of the provider is 2, this plan images at least 3: n2, n3, n9", "plan")
	l.head = acctest.Header(l.sledd.URL)
	l.declare(reimage)
	l.wiping("on request", []string{"n2: serial:LAB-0002, generation 1 -> 1, image v1 -> v1",
		"n3: serial:LAB-0003, generation 1 -> 1, image v1 -> v1", "n9: serial:LAB-0009, generation 1 -> 1, image v1 -> v1"})
}

// An empty list is as good as none, from the first apply on, and after a change by somebody else.
func TestAccEmptyKeys(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), `seed_changes = "reimage"`)
	const many = "resource \"sled_bindings\" \"x\" {\n  name = \"x\"\n  images = { \"52:54:00:77:00:02\" = \"v1\" }\n" +
		"  authorized_keys = []\n}\n"
	l.declare(n("n1", image("v1"), `seed_changes = "reimage"`, "authorized_keys = []"), many)
	l.Apply()
	l.Empty()
	l.wants(1, "v1", 1)
	l.wants(2, "v1", 1)
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", AuthorizedKeys: []string{sshkeys.Bob + " bob"},
		Owner: "terraform"})
	l.has(l.plan(0), "other authorized_keys")
	l.declare(n("n1", image("v1"), "authorized_keys = []", `on_drift = "reimage"`), many)
	l.Apply()
	l.Empty()
	if keys := l.sledd.Node(1).Binding.AuthorizedKeys; len(keys) > 0 {
		t.Errorf("%q", keys)
	}
}

// In 20 edits that change no disk, no generation is raised.
func TestAccCosmeticEdits(t *testing.T) {
	l := start(t)
	same, err := l.sledd.Client().Image(t.Context(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	same.Name, same.URLs = "stable", []string{"http://mirror/v1"}
	if _, err := l.sledd.Client().PutImage(t.Context(), same.ImageSpec); err != nil {
		t.Fatal(err)
	}
	const alice, bob = `"` + sshkeys.Alice + ` alice"`, `"` + sshkeys.Bob + ` bob"`
	base := []string{image("v1"), "authorized_keys = [" + alice + ", " + bob + "]", `user_data = "#cloud-config"`,
		`seed_changes = "reimage"`}
	l.bound(base...)
	edits := []struct {
		at   int // of base; -1: one more line
		line string
	}{
		{0, image("stable")}, {1, "authorized_keys = [" + bob + ", " + alice + "]"},
		{1, `authorized_keys = ["` + sshkeys.Alice + ` laptop", ` + bob + "]"},
		{1, `authorized_keys = ["` + sshkeys.Alice + `", ` + bob + "]"},
		{1, "authorized_keys = [" + alice + ", " + bob + ", " + alice + "]"},
		{1, `authorized_keys = ["# admins", ` + alice + ", " + bob + "]"}, {-1, `hostname = "n1"`},
		{-1, `disk = "serial:LAB-0001"`}, {-1, `mode = "full"`}, {-1, `mode = "delta"`}, {-1, `wipe = "empty"`},
		{-1, `verify = "full"`}, {-1, `boot = "auto"`}, {-1, `boot = "reboot"`}, {-1, "allow_unsigned = false"},
		{-1, `kernel_arguments = "quiet"`}, {-1, `on_destroy = "wipe"`}, {-1, `on_drift = "reimage"`},
		{3, `seed_changes = "next_image"`}, {-1, `admission = "open"`},
	}
	for _, edit := range edits {
		lines := append([]string{}, base...)
		if edit.at < 0 {
			lines = append(lines, edit.line)
		} else {
			lines[edit.at] = edit.line
		}
		l.declare(n("n1", lines...))
		l.hasNot(acctest.Flat(l.Apply()), "is wiped", "~ generation")
		if now := l.generations()["n1"]; now != 1 {
			t.Fatalf("%s: generation %d", edit.line, now)
		}
	}
}
