// SPDX-License-Identifier: Apache-2.0

package frontends_test

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// trials is for how many fleets limits are tried.
const trials = 3

// bind is the command of sledctl that makes the change of a fleet.
func (f fleet) bind(more ...string) []string {
	words := append([]string{"bind", "-l", "fleet=" + f.name}, more...)
	if f.image == "" {
		return append(words, "--wipe-only")
	}
	return append(words, "--image", f.image)
}

// unsatisfied is how many nodes a rollout of the change would count: also those that were bound to it before.
func (s *seededSite) unsatisfied(f fleet) (count int) {
	s.Helper()
	for _, spec := range f.nodes {
		node, err := s.Client().Node(s.Context(), spec.Name)
		if err != nil {
			s.Fatal(err)
		}
		if node.Binding == nil || !node.Binding.Satisfied || node.Binding.Image != f.image {
			count++
		}
	}
	return count
}

// generations are those of the bindings of a fleet.
func (s *seededSite) generations(f fleet) map[string]int64 {
	s.Helper()
	found := map[string]int64{}
	for _, spec := range f.nodes {
		node, err := s.Client().Node(s.Context(), spec.Name)
		if err != nil {
			s.Fatal(err)
		}
		if found[spec.Name] = node.Status.Generation; node.Binding != nil {
			found[spec.Name] = node.Binding.Generation
		}
	}
	return found
}

// stops makes the change of a fleet with a limit of one node fewer than it wipes: each front end refuses it, and
// nothing is changed. At the limit, a plan and a check pass.
func (s *seededSite) stops(f fleet, wiped int) {
	s.Helper()
	below, before := fmt.Sprint(wiped-1), stored(s.Sledd, s.T)
	out, complaint, code := s.execute(s.program, f.bind("--max-wipes", below)...)
	s.refuses("sledctl", out+complaint, code, fmt.Sprintf("%d nodes would be wiped, --max-wipes is %s", wiped, below))
	playbook := s.playbook(f)
	out, complaint, code = s.execute("ansible-playbook", append(playbook, "-e", "sled_max_wipes="+below)...)
	s.refuses("playbook", out+complaint, code, fmt.Sprintf("max_wipes is %s, but %d nodes would be wiped", below, wiped))
	enough := fmt.Sprint("sled_max_wipes=", wiped)
	out, complaint, _ = s.execute("ansible-playbook", append(playbook, "--check", "-e", enough)...)
	if !strings.Contains(out, fmt.Sprintf("%d nodes would change", wiped)) {
		s.Errorf("fleet %s: at the limit the playbook prints\n%s%s", f.name, out, complaint)
	}
	target := "-target=sled_binding." + f.name
	if f.together {
		target = "-target=sled_bindings." + f.name
	}
	s.limit(wiped - 1)
	plan := s.cli.Run("plan", target)
	s.refuses("terraform", plan.Text, plan.Code, fmt.Sprintf("max_wipes of the provider is %s, this plan wipes", below))
	s.limit(wiped)
	s.cli.Must("plan", target)
	if after := stored(s.Sledd, s.T); after != before {
		s.Errorf("fleet %s: refused changes changed\n%s\nto\n%s", f.name, before, after)
	}
}

func (s *seededSite) refuses(front, text string, code int, want string) {
	s.Helper()
	if code == 0 || !strings.Contains(acctest.Flat(text), want) {
		s.Errorf("%s: exit code %d, does not say %q:\n%s", front, code, want, text)
	}
}

// limit sets that of Terraform.
func (s *seededSite) limit(most int) {
	s.Helper()
	s.cli.Write(acctest.Config(acctest.Header(s.URL, fmt.Sprint("max_wipes = ", most)), s.body))
}

// playbook is the command line of the playbook that makes the change of a fleet, with the inventory of all.
func (s *seededSite) playbook(f fleet) []string {
	kind, names := "reimage", []string{}
	if f.image == "" {
		kind = "wipe"
	}
	for _, spec := range f.nodes {
		names = append(names, spec.Name)
	}
	return []string{"-i", s.folder + "/" + kind + ".yml", "playbooks/" + kind + ".yml", "-e", "on_drift=reimage",
		"--limit", strings.Join(names, ",")}
}
