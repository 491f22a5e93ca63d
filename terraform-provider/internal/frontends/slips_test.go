// SPDX-License-Identifier: Apache-2.0

package frontends_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// slip is a mistake of an operator, in each of the front ends where it can be made.
type slip struct {
	Slip                          string
	Sledctl, Playbooks, Terraform *attempt
}

// attempt is what is typed. It is refused and changes nothing, unless Fine or Wipes is set.
type attempt struct {
	Edit  map[string]string // what is replaced in bindings.yaml, hosts.yml or main.tf
	Run   string            // sledctl: a line for the shell; playbooks: what follows `playbooks/`; Terraform: `plan`
	Then  string            // Terraform: a line for the shell between plan and apply
	Says  string            // part of what is printed
	Fine  bool              // it succeeds, and wipes nothing
	Wipes []string          // it wipes the disks of these nodes, which were named before, or counted by a limit
}

func slips(t *testing.T) (rows []slip) {
	t.Helper()
	text, err := os.ReadFile("slips.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// frontEnds make attempts; seen is what the operator knows before anything is changed.
var frontEnds = map[string]struct {
	sites int // side by side
	of    func(slip) *attempt
	try   func(*lab, *attempt) (seen, text string, code int)
}{
	"sledctl":   {1, func(s slip) *attempt { return s.Sledctl }, (*lab).bySledctl},
	"playbooks": {2, func(s slip) *attempt { return s.Playbooks }, (*lab).byPlaybook},
	"terraform": {1, func(s slip) *attempt { return s.Terraform }, (*lab).byTerraform},
}

// TestAccSlips: no slip of the keyboard wipes a disk that the operator did not see before, by name or by number.
func TestAccSlips(t *testing.T) {
	acctest.SkipBelow(t, "1.11", "1.12")
	t.Parallel()
	sledctl := buildSledctl(t)
	other := newLab(t, sledctl, 100, false)
	rows := slips(t)
	for name, end := range frontEnds {
		for k := range end.sites {
			t.Run(name+strconv.Itoa(k), func(t *testing.T) {
				t.Parallel()
				var l *lab
				for i := k; i < len(rows); i += end.sites {
					a := end.of(rows[i])
					if a == nil {
						continue
					}
					if l == nil {
						l = newLab(t, sledctl, 0, name == "terraform")
						l.other = other
					}
					if !l.slips(rows[i].Slip, a, end.try) {
						l = nil // the next one finds another site
					}
				}
			})
		}
	}
}

// slips makes an attempt and judges it. It returns whether all is as before.
func (l *lab) slips(what string, a *attempt, try func(*lab, *attempt) (seen, text string, code int)) bool {
	l.Helper()
	seen, text, code := try(l, a)
	if text = acctest.Flat(text); !strings.Contains(text, a.Says) {
		l.Errorf("%s: it does not say %q:\n%s", what, a.Says, text)
	}
	if refused := !a.Fine && a.Wipes == nil; refused != (code != 0) {
		l.Errorf("%s: exit code %d:\n%s", what, code, text)
	}
	wiped := l.wiped()
	if !slices.Equal(wiped, a.Wipes) {
		l.Errorf("%s: disks of %v are wiped, expected %v:\n%s", what, wiped, a.Wipes, text)
	}
	for _, node := range wiped {
		if !regexp.MustCompile(`\b`+node+`\b`).MatchString(seen) && number(seen) < len(wiped) {
			l.Errorf("%s: the disk of %s is wiped unseen:\n%s", what, node, seen)
		}
	}
	if other := l.other.wiped(); other != nil {
		l.Errorf("%s: disks of %v are wiped at another site:\n%s", what, other, text)
	}
	unchanged := stored(l.Sledd, l.T) == l.before
	if !unchanged && code != 0 && l.cli == nil { // an apply may end half-way
		l.Errorf("%s: it failed and changed what is stored:\n%s", what, text)
	}
	return unchanged && (code != 0 || l.cli == nil)
}

// number is the limit that a line sets, 0 without one.
func number(line string) int {
	found := regexp.MustCompile(`max.(?:wipes|reimages).(\d+)`).FindStringSubmatch(line)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

func (l *lab) bySledctl(a *attempt) (seen, text string, code int) {
	l.Helper()
	defer l.edit(filepath.Join(l.folder, "bindings.yaml"), a.Edit)()
	text, code = l.shell(a.Run)
	return a.Run, text, code
}

func (l *lab) byPlaybook(a *attempt) (seen, text string, code int) {
	l.Helper()
	defer l.edit(filepath.Join(l.folder, "hosts.yml"), a.Edit)()
	text, code = l.shell("unset SLED_TOKEN; ansible-playbook -i hosts.yml " + l.tree + "/playbooks/" + a.Run)
	return a.Run, text, code
}

// byTerraform applies a saved plan, as CI does: what it names is what the operator has seen.
func (l *lab) byTerraform(a *attempt) (seen, text string, code int) {
	l.Helper()
	defer l.edit(filepath.Join(l.cli.Dir, "main.tf"), a.Edit)()
	arguments := strings.Fields(a.Run)
	plan := l.cli.Run("plan", append(arguments, "-out=plan")...)
	if plan.Code != 0 {
		return plan.Text, plan.Text, plan.Code
	}
	if a.Then != "" {
		if text, code := l.shell(a.Then); code != 0 {
			l.Fatal(text)
		}
		l.before = stored(l.Sledd, l.T)
	}
	applied := l.cli.Run("apply", "plan")
	return plan.Text, plan.Text + applied.Text, applied.Code
}

// TestSlipsAreDocumented: the table of the page is that of the test.
func TestSlipsAreDocumented(t *testing.T) {
	table := "\n\n| mistyped or forgotten | `sledctl` | playbooks | Terraform |\n|---|---|---|---|\n"
	for _, s := range slips(t) {
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", s.Slip, s.Sledctl, s.Playbooks, s.Terraform)
	}
	const page = "../../../docs/slips.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "by go test -update) -->")
	_, tail, found := strings.Cut(rest, "\n<!-- END slips -->")
	if !found {
		t.Fatalf("%s has no marks of the table", page)
	}
	acctest.Golden(t, page, head+"by go test -update) -->"+table+"\n<!-- END slips -->"+tail)
}

// String is the cell of the table.
func (a *attempt) String() string {
	switch {
	case a == nil:
		return ""
	case a.Wipes != nil:
		return "named"
	case a.Fine:
		return "wipes nothing"
	}
	return "refused"
}
