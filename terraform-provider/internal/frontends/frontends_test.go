// SPDX-License-Identifier: Apache-2.0

// Package frontends_test compares what sledctl, Terraform and the playbooks announce that they would wipe.
package frontends_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// later is the line of a machine whose disk Terraform names only when it applies.
const later = "known after apply"

// seeds is how many fleets are compared.
const seeds = 100

// seededSite is a site with the fleets of all seeds.
type seededSite struct {
	*site
	fleets  []fleet
	program string // sledctl
	cli     *acctest.CLI
	body    string // of main.tf, without the provider
}

// TestAccToolsNameTheSameDisks: a dry run of sledctl, the plan of Terraform and the check mode of reimage.yml print the
// same lines, and what is then bound raises the generation of these nodes and no others. They stop at the same limit.
func TestAccToolsNameTheSameDisks(t *testing.T) {
	s := &seededSite{site: startSite(t), program: buildSledctl(t)}
	s.Register("d12")
	s.Register("d13")
	nodes := 0
	for seed := range seeds {
		f := seeded(t, s.Sledd, seed, nodes)
		nodes += len(f.nodes)
		s.fleets = append(s.fleets, f)
	}
	before := stored(s.Sledd, t)
	sledctl, terraform, playbook := s.sledctl(), s.terraform(), s.playbooks()
	if after := stored(s.Sledd, t); after != before {
		t.Errorf("a dry run changed\n%s\nto\n%s", before, after)
	}
	wiped, tried := 0, 0
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
		limited := tried < trials && len(names) > 1 && len(names) == s.unsatisfied(f)
		if limited {
			tried++
			s.stops(f, len(names))
		}
		if raised := s.bind(f, limited, len(names)); !slices.Equal(raised, names) {
			t.Errorf("fleet %s: the generations of %v rose, announced was %v", f.name, raised, names)
		}
	}
	t.Logf("%d nodes in %d fleets, %d would be wiped, %d limits were tried", nodes, seeds, wiped, tried)
	if tried < trials || wiped < nodes/3 || wiped > nodes*19/20 {
		t.Errorf("%d of %d nodes would be wiped: the fleets compare little", wiped, nodes)
	}
}

// agrees reports whether a line of Terraform is about the same disk, generations and images. A plan must hold until it
// is applied. So it names the disk of a machine that had no plan yet by the selector that the machine is declared with,
// also if it has reported disks, and leaves a selector that describes a disk, and one that matches none, to the apply.
// sled_bindings, for thousands of machines, reads no disks at all.
func agrees(line string, o api.Outlook) bool {
	if line == o.Node+": "+later {
		return (o.Before == 0 || o.Unmatched) && !strings.Contains(o.Disk, "serial:") && !strings.Contains(o.Disk, "wwn:")
	}
	declared := o
	declared.Disks, declared.Unmatched = nil, false
	return line == o.Wipes || line == declared.WipeText()
}

// bind makes the change that was announced, at a limit by sledctl, and returns the nodes whose generation it raises.
func (s *seededSite) bind(f fleet, limited bool, most int) []string {
	s.Helper()
	before := s.generations(f)
	if limited {
		s.run(s.program, f.bind("--max-wipes", fmt.Sprint(most))...)
	} else {
		for _, spec := range f.nodes {
			s.Bind(api.BindingSpec{Node: spec.Name, Image: f.image})
		}
	}
	var raised []string
	for name, generation := range s.generations(f) {
		if generation > before[name] {
			raised = append(raised, name)
		}
	}
	slices.Sort(raised)
	return raised
}

// sledctl returns the outlooks of each fleet that wipe a disk, by name of the node.
func (s *seededSite) sledctl() map[string][]api.Outlook {
	s.Helper()
	found := map[string][]api.Outlook{}
	for _, f := range s.fleets {
		var outlooks []api.Outlook
		if err := json.Unmarshal([]byte(s.run(s.program, f.bind("--dry-run", "-o", "json")...)), &outlooks); err != nil ||
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
func (s *seededSite) terraform() map[string]map[string]string {
	s.Helper()
	var body strings.Builder
	for _, f := range s.fleets {
		body.WriteString(f.block())
		if !f.together {
			body.WriteString(s.imports(f))
		}
	}
	s.body = body.String()
	s.cli = acctest.NewCLI(s.T, acctest.Config(acctest.Header(s.URL), s.body))
	s.cli.Must("plan", "-out=plan")
	// As examples/ci/wipes.jq prints them, with the address of the fleet.
	printed := s.run("jq", "-r", "-f", "terraform-provider/examples/ci/wipes.jq",
		s.file("plan.json", s.cli.Must("show", "-json", "plan")))
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
func (s *seededSite) imports(f fleet) string {
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
func (f fleet) block() string {
	images, names := map[string]string{}, []string{}
	for _, spec := range f.nodes {
		images[spec.MAC] = f.image
		names = append(names, spec.Name)
	}
	text, _ := json.Marshal(images)
	list, _ := json.Marshal(names)
	if f.together {
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
func (s *seededSite) playbooks() map[string][]string {
	s.Helper()
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
	lines := map[string][]string{}
	for playbook, hosts := range map[string]group{"reimage": imaged, "wipe": emptied} {
		inventory := s.inventory(playbook+".yml", group{"hosts": hosts}, nil)
		out := s.run("ansible-playbook", "-i", inventory, "playbooks/"+playbook+".yml", "-e",
			"on_drift=reimage", "--check", "--diff") // the inventory has other images than the fleet
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
