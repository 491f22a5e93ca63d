// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// restore puts a state file back.
func (l *lab) restore(state string) {
	l.Helper()
	path := filepath.Join(l.Dir, "terraform.tfstate")
	err := os.WriteFile(path, []byte(state), 0o600)
	if state == "" {
		err = os.Remove(path)
	}
	if err != nil {
		l.Fatal(err)
	}
}

// save makes a plan file.
func (l *lab) save() string {
	l.Helper()
	l.Must("plan", "-out=saved")
	return "saved"
}

// declared is what the state declares of each binding, and whether it is tainted. Serial numbers aside, that is what a
// refused apply leaves.
func (l *lab) declared() string {
	l.Helper()
	var state struct {
		Resources []struct {
			Name      string
			Instances []struct {
				Status     string
				Attributes map[string]any
			}
		}
	}
	if text := l.State(); text != "" {
		if err := json.Unmarshal([]byte(text), &state); err != nil {
			l.Fatal(err)
		}
	}
	var all strings.Builder
	for _, resource := range state.Resources {
		for _, one := range resource.Instances {
			fmt.Fprintln(&all, resource.Name, one.Status, one.Attributes["image"], one.Attributes["generation"],
				one.Attributes["user_data_sha256"])
		}
	}
	return all.String()
}

// refused runs a command that has to fail with a text of this pattern and leaves what is declared as it was.
func (l *lab) refused(pattern, command string, arguments ...string) {
	l.Helper()
	before := l.declared()
	out := l.Run(command, arguments...)
	if out.Code == 0 || !regexp.MustCompile(pattern).MatchString(acctest.Flat(out.Text)) {
		l.Errorf("%s: exit code %d, want a failure with %q:\n%s", command, out.Code, pattern, out.Text)
	}
	if after := l.declared(); after != before {
		l.Errorf("%s failed and changed the state from\n%sto\n%s", command, before, after)
	}
}

// stale applies a plan that is too old: refused, nothing written, and the resource neither gone nor tainted.
func (l *lab) stale(pattern, saved string) {
	l.Helper()
	before := l.sledd.Node(1).Binding
	l.refused(pattern, "apply", saved)
	if after := l.sledd.Node(1).Binding; (before == nil) != (after == nil) || before != nil &&
		before.Revision != after.Revision {
		l.Errorf("written: %+v, before %+v", after, before)
	}
}

const changed = "Changed since the plan was made: could not "

// A plan is saved, then somebody changes the binding, each in his way; the apply writes nothing.
func TestAccStaleUpdate(t *testing.T) {
	for name, behind := range map[string]func(*lab){
		"another image": func(l *lab) { l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v3", Owner: "terraform"}) },
		"another mode": func(l *lab) {
			l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Mode: "delta", Owner: "terraform"})
		},
		"the same again": func(l *lab) {
			l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Owner: "terraform"}, api.Reimage())
		},
		"what was planned": func(l *lab) { l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v2", Owner: "terraform"}) },
		"unbound": func(l *lab) {
			if err := l.sledd.Client().DeleteBinding(l.Context(), "n1", api.As("terraform")); err != nil {
				l.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t)
			l.bound(image("v1"))
			l.declare(n("n1", image("v2")))
			saved := l.save()
			behind(l)
			l.stale(changed+"bind node n1", saved)
		})
	}
}

// The disk of the node is another one than the plan told.
func TestAccStaleDisk(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare(n("n1", image("v2")))
	saved := l.save()
	spec := l.sledd.Node(1).NodeSpec
	spec.Disk = "serial:OTHER"
	if _, err := l.sledd.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	l.stale("the disk of node n1.*plan showed disk serial:LAB-0001; the node's disk is serial:OTHER now", saved)
	l.has(l.plan(2), "disk serial:OTHER is wiped and gets image v2")
}

// A node that was free when the plan was made is bound, by whomever: not written over. One that was only to be wiped
// stays so, too.
func TestAccStaleCreate(t *testing.T) {
	for name, spec := range map[string]api.BindingSpec{
		"mine":     {Node: "n1", Image: "v3", Owner: "terraform"},
		"other's":  {Node: "n1", Image: "v1", Owner: "other"},
		"nobody's": {Node: "n1", Image: "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t)
			l.declare(n("n1", image("v1")))
			saved := l.save()
			l.sledd.Bind(spec)
			l.stale("Node n1 is already bound.*terraform import ADDRESS 52:54:00:77:00:01", saved)
		})
	}
}

// Deleting, too, is only of what was seen.
func TestAccStaleDelete(t *testing.T) {
	for _, way := range []string{"keep", "wipe"} {
		t.Run(way, func(t *testing.T) {
			l := start(t)
			l.bound(image("v1"), `on_destroy = "`+way+`"`)
			l.declare()
			saved := l.save()
			l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v3", Owner: "terraform"})
			l.stale(changed, saved)
		})
	}
}

// The same plan file is applied twice. The CLI refuses it by the state; with the old state restored, sledd does.
func TestAccTwoAppliesOfOnePlan(t *testing.T) {
	l := start(t)
	l.declare(n("n1", image("v1")))
	saved := l.save()
	l.Must("apply", saved)
	l.wants(1, "v1", 1)
	l.stale("Saved plan is stale", saved)
	l.restore("")
	l.stale("Node n1 is already bound", saved)

	l.Must("import", n1, "n1")
	l.declare(n("n1", image("v2")))
	saved, state := l.save(), l.State()
	l.Must("apply", saved)
	l.wants(1, "v2", 2)
	l.stale("Saved plan is stale", saved)
	l.restore(state)
	l.stale(changed+"bind node n1", saved)
	l.wants(1, "v2", 2)
}
