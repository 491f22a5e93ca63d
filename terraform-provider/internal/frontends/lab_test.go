// SPDX-License-Identifier: Apache-2.0

package frontends_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// installed of the declared nodes of a lab run d12.
const installed, declared = 8, 11

// limits and racks are main.tf of a lab.
const (
	limits = "max_reimages = 2\n  max_wipes    = 2"
	racks  = `locals {
  rack_a = ["n1", "n2", "n3", "n4"]
  rack_b = ["n5", "n6", "n7", "n8"]
  image  = "d12"
}
resource "sled_binding" "rack" {
  for_each = toset(concat(local.rack_a, local.rack_b))
  node     = each.key
  image    = local.image
}
`
)

// lab is a site with nodes n1 to n8 in racks a and b, which run d12, and n9 to n11 in rack c, which are not bound. Its
// operator has the files bindings.yaml and hosts.yml, or for Terraform main.tf, which has limits.
type lab struct {
	*site
	sledctl string // its path
	first   int    // number of n1, which its MAC is made from
	cli     *acctest.CLI
	other   *lab // another site, whose nodes have the same names and other MACs
	before  string
}

func name(i int) string { return fmt.Sprintf("n%d", i+1) }

func newLab(t *testing.T, sledctl string, first int, terraform bool) *lab {
	t.Helper()
	l := &lab{site: startSite(t), sledctl: sledctl, first: first}
	for _, image := range []string{"d11", "d12", "d13"} {
		l.Register(image)
	}
	inventory := group{}
	for i := range declared {
		rack := "abc"[i/4 : i/4+1]
		spec := api.NodeSpec{MAC: sleddtest.MAC(first + i), Name: name(i), Disk: "serial:S" + name(i),
			Labels: map[string]string{"rack": rack}}
		declare(t, l.Sledd, spec)
		if inventory["rack_"+rack] == nil {
			inventory["rack_"+rack] = group{"hosts": group{}}
		}
		inventory["rack_"+rack].(group)["hosts"].(group)[spec.Name] = group{"node_mac": spec.MAC, "node_disk": spec.Disk}
	}
	l.inventory("hosts.yml", group{"children": inventory}, group{"node_image": "d12"})
	if terraform {
		l.cli = acctest.NewCLI(t, acctest.Config(acctest.Header(l.URL), racks))
		l.cli.Apply()
		l.cli.Write(acctest.Config(acctest.Header(l.URL, limits), racks))
	}
	for i := range installed {
		if !terraform {
			l.Bind(api.BindingSpec{Node: name(i), Image: "d12"})
		}
		l.Machine(first + i).Fulfil()
	}
	l.file("bindings.yaml", l.run(sledctl, "binding", "list", "-o", "yaml"))
	l.before = stored(l.Sledd, t)
	return l
}

// edit replaces text in a file of the operator. The function that it returns makes it as it was.
func (l *lab) edit(path string, changes map[string]string) (undo func()) {
	l.Helper()
	was, err := os.ReadFile(path)
	if err != nil {
		l.Fatal(err)
	}
	text := string(was)
	for old, changed := range changes {
		if !strings.Contains(text, old) {
			l.Fatalf("%s has no %q:\n%s", path, old, was)
		}
		text = strings.ReplaceAll(text, old, strings.ReplaceAll(changed, "OTHER", l.other.URL))
	}
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			l.Fatal(err)
		}
	}
	write([]byte(text))
	return func() { write(was) }
}

// shell runs a line as it was typed, in the folder of the operator.
func (l *lab) shell(line string) (text string, code int) {
	l.Helper()
	path := fmt.Sprintf("cd %s; PATH=%s:$PATH; OTHER=%s\n", l.folder, filepath.Dir(l.sledctl), l.other.URL)
	out, complaint, code := l.execute("sh", "-c", path+line)
	return out + complaint, code
}

// wiped are the nodes whose disks a machine would now wipe: it boots, and carries out its plan.
func (l *lab) wiped() (names []string) {
	l.Helper()
	if stored(l.Sledd, l.T) == l.before {
		return nil
	}
	for i := range declared {
		machine := l.Machine(l.first + i)
		if machine.Token == "" {
			continue // it boots its own disk
		}
		if plan := machine.Poll(0); strings.Contains(plan, "\nwipe ") || strings.Contains(plan, "\nwrite ") {
			names = append(names, name(i))
		}
	}
	return names
}
