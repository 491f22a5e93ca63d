// SPDX-License-Identifier: Apache-2.0

// Package frontends_test compares what sledctl, Terraform and the playbooks announce that they would wipe.
package frontends_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// later is the line of a machine whose disk Terraform names only when it applies.
const later = "known after apply"

// seeds is how many fleets are compared.
const seeds = 30

// site is a sledd with the fleets of all seeds.
type site struct {
	*testing.T
	*sleddtest.Sledd
	fleets []fleet
	tree   string // the checkout
	folder string
}

// TestAccToolsNameTheSameDisks: a dry run of sledctl, the plan of Terraform and the check mode of reimage.yml print the
// same lines, and what is then bound raises the generation of these nodes and no others.
func TestAccToolsNameTheSameDisks(t *testing.T) {
	s := &site{T: t, Sledd: acctest.Start(t), folder: t.TempDir(), tree: checkout(t)}
	s.Register("d12")
	s.Register("d13")
	nodes := 0
	for seed := range seeds {
		f := seeded(t, s.Sledd, seed, nodes)
		nodes += len(f.nodes)
		s.fleets = append(s.fleets, f)
	}
	before := s.stored()
	sledctl, terraform, playbook := s.sledctl(), s.terraform(), s.playbooks()
	if after := s.stored(); after != before {
		t.Errorf("a dry run changed\n%s\nto\n%s", before, after)
	}
	wiped := 0
	for _, f := range s.fleets {
		var lines, names []string
		for _, o := range sledctl[f.name] {
			lines, names = append(lines, o.Wipes), append(names, o.Node)
			if line := terraform[f.name][o.Node]; !agrees(line, o) {
				t.Errorf("fleet %s: terraform prints %q, sledctl %q", f.name, line, o.Wipes)
			}
		}
		wiped += len(lines)
		if got := slices.Sorted(maps.Keys(terraform[f.name])); !slices.Equal(got, names) {
			t.Errorf("fleet %s, image %q: terraform names %v, sledctl %v", f.name, f.image, got, names)
		}
		if got := playbook[f.name]; !slices.Equal(got, lines) {
			t.Errorf("fleet %s, image %q: the playbook prints\n%s\nsledctl prints\n%s", f.name, f.image,
				strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
		if raised := s.bind(f); !slices.Equal(raised, names) {
			t.Errorf("fleet %s: the generations of %v rose, announced was %v", f.name, raised, names)
		}
	}
	t.Logf("%d nodes in %d fleets, %d would be wiped", nodes, seeds, wiped)
	if wiped < nodes/3 || wiped > nodes*19/20 {
		t.Errorf("%d of %d nodes would be wiped: the fleets compare little", wiped, nodes)
	}
}

// stored is all that a change of bindings or nodes changes, with revisions.
func (s *site) stored() string {
	s.Helper()
	nodes, err := api.Collect(s.Client().Nodes(s.Context(), api.Filter{}))
	if err != nil {
		s.Fatal(err)
	}
	text, err := json.MarshalIndent(nodes, "", " ")
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// agrees reports whether a line of Terraform is about the same disk, generations and images. A plan must hold until it
// is applied. So it names the disk of a machine that had no plan yet by the selector that the machine is declared with,
// also if it has reported disks, and leaves a selector that describes a disk to the apply. sled_bindings, for thousands
// of machines, reads no disks at all.
func agrees(line string, o api.Outlook) bool {
	if line == o.Node+": "+later {
		return o.Before == 0 && !strings.Contains(o.Disk, "serial:") && !strings.Contains(o.Disk, "wwn:")
	}
	declared := o
	declared.Disks, declared.Unmatched = nil, false
	return line == o.Wipes || line == declared.WipeText()
}

// bind makes the change that was announced, and returns the nodes whose generation it raises.
func (s *site) bind(f fleet) []string {
	s.Helper()
	var raised []string
	for _, spec := range f.nodes {
		before, err := s.Client().Node(s.Context(), spec.Name)
		if err != nil {
			s.Fatal(err)
		}
		generation := before.Status.Generation
		if before.Binding != nil {
			generation = before.Binding.Generation
		}
		if after := s.Bind(api.BindingSpec{Node: spec.Name, Image: f.image}); after.Generation > generation {
			raised = append(raised, spec.Name)
		}
	}
	slices.Sort(raised)
	return raised
}

// sledctl returns the outlooks of each fleet that wipe a disk, by name of the node.
func (s *site) sledctl() map[string][]api.Outlook {
	s.Helper()
	program := filepath.Join(s.folder, "sledctl")
	s.run("go", "build", "-o", program, "./sledd/cmd/sledctl")
	found := map[string][]api.Outlook{}
	for _, f := range s.fleets {
		arguments := []string{"bind", "-l", "fleet=" + f.name, "--dry-run", "-o", "json"}
		if f.image == "" {
			arguments = append(arguments, "--wipe-only")
		} else {
			arguments = append(arguments, "--image", f.image)
		}
		var outlooks []api.Outlook
		if err := json.Unmarshal([]byte(s.run(program, arguments...)), &outlooks); err != nil ||
			len(outlooks) != len(f.nodes) {
			s.Fatalf("%d outlooks, %v", len(outlooks), err)
		}
		found[f.name] = slices.DeleteFunc(outlooks, func(o api.Outlook) bool { return o.Wipes == "" })
		slices.SortFunc(found[f.name], func(a, b api.Outlook) int { return strings.Compare(a.Node, b.Node) })
	}
	return found
}

// terraform returns the lines of each fleet by node, from one plan: a sled_binding for each node, or for every second
// fleet with an image one sled_bindings.
func (s *site) terraform() map[string]map[string]string {
	s.Helper()
	var body strings.Builder
	for i, f := range s.fleets {
		together := i%2 == 0 && f.image != ""
		body.WriteString(f.block(together))
		if !together {
			body.WriteString(s.imports(f))
		}
	}
	cli := acctest.NewCLI(s.T, acctest.Config(acctest.Header(s.URL), body.String()))
	cli.Must("plan", "-out=plan")
	// As examples/ci/wipes.jq prints them, with the address of the fleet.
	printed := s.run("jq", "-r", "-f", "terraform-provider/examples/ci/wipes.jq",
		s.file("plan.json", cli.Must("show", "-json", "plan")))
	found := map[string]map[string]string{}
	for line := range strings.Lines(printed) {
		node, _, _ := strings.Cut(line, ":")
		f, _, _ := strings.Cut(node, "n")
		if found[f] == nil {
			found[f] = map[string]string{}
		}
		if found[f][node] != "" {
			s.Errorf("terraform names %s twice", node)
		}
		found[f][node] = strings.TrimSuffix(line, "\n")
	}
	return found
}

// imports has sled_binding take over the nodes of a fleet that are bound.
func (s *site) imports(f fleet) string {
	s.Helper()
	text := ""
	for _, spec := range f.nodes {
		if node, err := s.Client().Node(s.Context(), spec.Name); err != nil {
			s.Fatal(err)
		} else if node.Binding != nil {
			text += fmt.Sprintf("import {\n  to = sled_binding.%s[%q]\n  id = %q\n}\n", f.name, spec.Name, spec.MAC)
		}
	}
	return text
}

// block declares the fleet.
func (f fleet) block(together bool) string {
	images, names := map[string]string{}, []string{}
	for _, spec := range f.nodes {
		images[spec.MAC] = f.image
		names = append(names, spec.Name)
	}
	text, _ := json.Marshal(images)
	list, _ := json.Marshal(names)
	if together {
		return fmt.Sprintf("resource \"sled_bindings\" %q {\n  name   = %q\n  images = jsondecode(%q)\n}\n", f.name, f.name,
			text)
	}
	image := ""
	if f.image != "" {
		image = fmt.Sprintf("  image = %q\n", f.image)
	}
	return fmt.Sprintf("resource \"sled_binding\" %q {\n  for_each = toset(%s)\n  node = each.key\n%s}\n", f.name, list,
		image)
}

// playbooks returns the lines of each fleet: reimage.yml for those with an image, wipe.yml for the others.
func (s *site) playbooks() map[string][]string {
	s.Helper()
	type group map[string]any
	imaged, emptied := group{}, group{}
	for _, f := range s.fleets {
		for _, spec := range f.nodes {
			if f.image == "" {
				emptied[spec.Name] = nil
			} else {
				imaged[spec.Name] = group{"node_image": f.image}
			}
		}
	}
	token := s.file("token", s.Token)
	lines := map[string][]string{}
	for playbook, hosts := range map[string]group{"reimage": imaged, "wipe": emptied} {
		inventory := group{"all": group{"vars": group{"sled_server": s.URL, "sled_ca_file": "", "sled_token_file": token,
			"sled_authorized_keys": []string{}, "ansible_connection": "local",
			"ansible_python_interpreter": "{{ ansible_playbook_python }}", "supervise_entry_methods": []string{"idle"},
			"supervise_verify": "none", "power_driver": "none"},
			"children": group{"controllers": group{"hosts": group{"localhost": nil}}, "nodes": group{"hosts": hosts}}}}
		text, err := json.Marshal(inventory) // which is YAML
		if err != nil {
			s.Fatal(err)
		}
		out := s.run("ansible-playbook", "-i", s.file(playbook+".yml", string(text)), "playbooks/"+playbook+".yml",
			"-e", "on_drift=reimage", "--check", "--diff") // the inventory has other images than the fleet
		for _, found := range announced.FindAllStringSubmatch(out, -1) {
			lines[found[2]] = append(lines[found[2]], found[1])
		}
	}
	for _, of := range lines {
		slices.Sort(of)
	}
	return lines
}

// announced is a line of a playbook's output that names a disk.
var announced = regexp.MustCompile(`(?m)^ *((f\d+)n\d+: .*, generation .*)$`)

// checkout is the top of the source tree.
func checkout(t *testing.T) string {
	t.Helper()
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// file writes a file and returns its path.
func (s *site) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// run runs a program in the checkout, with the collection of the checkout, and returns what it prints.
func (s *site) run(program string, arguments ...string) string {
	s.Helper()
	collections := filepath.Join(s.folder, "collections")
	link := filepath.Join(collections, "ansible_collections/sled/fleet")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.Symlink(s.tree, link); err != nil && !os.IsExist(err) {
		s.Fatal(err)
	}
	command := exec.CommandContext(s.Context(), program, arguments...)
	command.Dir = s.tree
	command.Env = append(os.Environ(), "ANSIBLE_CONFIG="+filepath.Join(s.tree, "ansible.cfg"), "ANSIBLE_NOCOLOR=1",
		"ANSIBLE_COLLECTIONS_PATH="+collections, "SLED_SERVER="+s.URL, "SLED_TOKEN="+s.Token, "SLED_CONFIG=/dev/null",
		"PYTHONDONTWRITEBYTECODE=1")
	var errors strings.Builder
	command.Stderr = &errors
	out, err := command.Output()
	changes := slices.Contains(arguments, "--check") && command.ProcessState.ExitCode() == 2 &&
		strings.Contains(string(out), "nodes would change: ")
	if err != nil && !changes {
		s.Fatalf("%s: %v\n%s%s", strings.Join(command.Args, " "), err, out, errors.String())
	}
	return string(out)
}
