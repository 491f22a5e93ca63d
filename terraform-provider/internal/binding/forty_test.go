// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// step of a fleet: somebody may do something, then this is declared, planned and applied.
type step struct {
	name   string
	behind func(l *lab)
	bodies []string
	plan   string   // arguments of the plan
	wiped  []string // whom the plan must name, and the apply must image
}

// many is a sled_bindings of machines, as pairs of number and image.
func many(name string, images []string, lines ...string) string {
	var pairs string
	for i, image := range images {
		if image != "" {
			pairs += fmt.Sprintf("    %q = %s\n", sleddtest.MAC(i+1), image)
		}
	}
	return fmt.Sprintf("resource \"sled_bindings\" %q {\n  name = %q\n  images = {\n%s  }\n  %s\n}\n", name, name, pairs,
		strings.Join(lines, "\n  "))
}

// to is a binding n1 of another node.
func to(node string, lines ...string) string {
	return strings.Replace(n("n1", lines...), `node = "n1"`, `node = "`+node+`"`, 1)
}

// at the same time declared: machine 9, a node of Terraform, with a binding by its name.
func nine(mac, disk string, lines ...string) string {
	return fmt.Sprintf("resource \"sled_node\" \"n9\" {\n  mac = %q\n  name = \"n9\"\n  disk = %q\n}\n", mac, disk) +
		strings.Replace(n("n9", lines...), `node = "n9"`, "node = sled_node.n9.name", 1)
}

const (
	config    = "resource \"terraform_data\" \"cfg\" {\n  input = \"%\"\n}\n"
	triggered = "lifecycle {\n    replace_triggered_by = [terraform_data.cfg]\n  }"
	wiping    = `on_destroy = "wipe"`
	v1, v2    = `"v1"`, `"v2"`
	two       = "52:54:00:77:00:02"
)

// later is an image that only the apply knows.
func later(name, image string) string {
	return fmt.Sprintf("resource \"terraform_data\" %q {\n  input = %q\n}\n", name, image)
}

func cfg(text string) string { return strings.ReplaceAll(config, "%", text) }

func (l *lab) unbind(i int) {
	if err := l.sledd.Client().DeleteBinding(l.Context(), sleddtest.MAC(i), api.TakeOver()); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) drifts(i int) {
	owner := l.sledd.Node(i).Binding.Owner
	l.sledd.Bind(api.BindingSpec{Node: sleddtest.MAC(i), Image: "v3", Owner: owner})
}

// single are plans of sled_binding.
func single() []step {
	return []step{
		{name: "first image", bodies: []string{n("n1", image("v1"))}, wiped: []string{"n1"}},
		{name: "nothing", bodies: []string{n("n1", image("v1"))}},
		{name: "another image", bodies: []string{n("n1", image("v2"))}, wiped: []string{"n1"}},
		{name: "another mode", bodies: []string{n("n1", image("v2"), `mode = "delta"`)}},
		{name: "keys", bodies: []string{n("n1", image("v2"), `authorized_keys = ["`+sshkeys.Alice+` a"]`)}},
		{name: "seed", bodies: []string{n("n1", image("v2"), `hostname = "h"`, `seed_changes = "reimage"`)},
			wiped: []string{"n1"}},
		{name: "another disk", bodies: []string{n("n1", image("v2"), `disk = "serial:X"`)}, wiped: []string{"n1"}},
		{name: "a trigger", bodies: []string{n("n1", image("v2"), `disk = "serial:X"`, `reimage_trigger = "a"`)},
			wiped: []string{"n1"}},
		{name: "another trigger", bodies: []string{n("n1", image("v2"), `disk = "serial:X"`, `reimage_trigger = "b"`),
			cfg("a")}, wiped: []string{"n1"}},
		{name: "no trigger", bodies: []string{n("n1", image("v2"), `disk = "serial:X"`, triggered), cfg("a")}},
		{name: "replace_triggered_by", bodies: []string{n("n1", image("v2"), `disk = "serial:X"`, triggered), cfg("b")},
			wiped: []string{"n1"}},
		{name: "-replace", bodies: []string{n("n1", image("v2"))}, plan: "-replace=" + n1, wiped: []string{"n1"}},
		{name: "another node", bodies: []string{to("n4", image("v2"))}, wiped: []string{"n4"}},
		{name: "on_destroy alone", bodies: []string{to("n4", image("v2"), wiping)}},
		{name: "another node, and a wipe", bodies: []string{n("n1", image("v2"), wiping)}, wiped: []string{"n1", "n4"}},
		{name: "-replace with a wipe", bodies: []string{n("n1", image("v2"), wiping)}, plan: "-replace=" + n1,
			wiped: []string{"n1"}},
		{name: "create before destroy", bodies: []string{n("n1", image("v2"), wiping, before)}, plan: "-replace=" + n1,
			wiped: []string{"n1"}},
		{name: "forced by a dependent", bodies: []string{n("n1", image("v2")), dependent}, plan: "-replace=" + n1,
			wiped: []string{"n1"}},
		{name: "an image known after apply", bodies: []string{chosen("v1")}, wiped: []string{"n1"}},
		{name: "unbound, warn", behind: func(l *lab) { l.unbind(1) }, bodies: []string{n("n1", image("v1"))}},
		{name: "unbound, reimage", bodies: []string{n("n1", image("v1"), `on_drift = "reimage"`)}, wiped: []string{"n1"}},
		{name: "drift, warn", behind: func(l *lab) { l.drifts(1) }, bodies: []string{n("n1", image("v1"))}},
		{name: "drift, ignore", bodies: []string{n("n1", image("v1"), `on_drift = "ignore"`)}},
		{name: "drift, reimage", bodies: []string{n("n1", image("v1"), `on_drift = "reimage"`)}, wiped: []string{"n1"}},
		{name: "no image", bodies: []string{n("n1")}, wiped: []string{"n1"}},
		{name: "an image again, and -target", bodies: []string{n("n1", image("v1")), n("n2", image("v1"))},
			plan: "-target=" + n1, wiped: []string{"n1"}},
		{name: "moved", bodies: []string{strings.Replace(n("n1", image("v1")), `"n1" {`, `"m" {`, 1),
			"moved {\n  from = " + n1 + "\n  to = sled_binding.m\n}\n"}},
	}
}

// together are plans of sled_bindings, sled_nodes and whole racks, after those of single.
func together() []step {
	m := strings.Replace(n("n1", image("v1")), `"n1" {`, `"m" {`, 1)
	forget := "removed {\n  from = sled_binding.m\n  lifecycle {\n    destroy = false\n  }\n}\n"
	x := func(lines ...string) string { return many("x", []string{v1, v2, v1}, lines...) }
	return []step{
		{name: "first images", bodies: []string{m, many("x", []string{"", v1, v1})}, wiped: []string{"n2", "n3"}},
		{name: "one of several", bodies: []string{m, many("x", []string{"", v2, v1})}, wiped: []string{"n2"}},
		{name: "a trigger of one", bodies: []string{m, many("x", []string{"", v2, v1},
			`reimage_triggers = { "`+two+`" = "a" }`)}, wiped: []string{"n2"}},
		{name: "growing", bodies: []string{forget, x()}},
		{name: "one known after apply", bodies: []string{later("c", "v2"),
			many("x", []string{v1, v2, "terraform_data.c.output"})}, wiped: []string{"n3"}},
		{name: "unbound, together", behind: func(l *lab) { l.unbind(3) }, bodies: []string{
			many("x", []string{v1, v2, v2}, `on_drift = "ignore"`)}},
		{name: "unbound, together, reimage", bodies: []string{many("x", []string{v1, v2, v2}, `on_drift = "reimage"`)},
			wiped: []string{"n3"}},
		{name: "a disk for all", bodies: []string{x(`disk = "serial:X"`)}, wiped: []string{"n1", "n2", "n3"}},
		{name: "removed, keep", bodies: []string{many("x", []string{"", v2, v1}, `disk = "serial:X"`)}},
		{name: "removed, wipe", bodies: []string{many("x", []string{"", v2}, `disk = "serial:X"`, wiping)},
			wiped: []string{"n3"}},
		{name: "-replace of all", bodies: []string{many("x", []string{"", v2}, `disk = "serial:X"`)},
			plan: "-replace=sled_bindings.x", wiped: []string{"n2"}},
		{name: "another name", bodies: []string{strings.Replace(many("x", []string{"", v2}, `disk = "serial:X"`),
			`name = "x"`, `name = "y"`, 1)}, wiped: []string{"n2"}},
		{name: "a rack with its nodes", bodies: []string{strings.Replace(many("x", []string{"", v2}, `disk = "serial:X"`),
			`name = "x"`, `name = "y"`, 1), nine(sleddtest.MAC(9), "serial:A", image("v1"))}, wiped: []string{"n9"}},
		{name: "the disk of a node", bodies: []string{nine(sleddtest.MAC(9), "serial:B", image("v1"), wiping)}},
		{name: "another MAC", bodies: []string{nine(sleddtest.MAC(10), "serial:B", image("v1"), wiping)}},
		{name: "another image and disk", bodies: []string{nine(sleddtest.MAC(10), "serial:C", image("v2"), wiping)},
			wiped: []string{"n9"}},
		{name: "a destroy that wipes", bodies: []string{nine(sleddtest.MAC(10), "serial:C", image("v2"), wiping)},
			plan: "-destroy -target=sled_binding.n9", wiped: []string{"n9"}},
	}
}

// settle has all machines do what their bindings request.
func (l *lab) settle() {
	l.Helper()
	for i := range 11 {
		node, err := l.sledd.Client().Node(l.Context(), sleddtest.MAC(i))
		if err == nil && node.Binding != nil && !node.Binding.Satisfied {
			l.reset(i, node.Binding.HandsOver)
			l.sledd.Machine(i).Fulfil()
		}
	}
}

// reset switches a machine off and on that changes hands: nobody is admitted before that.
func (l *lab) reset(i int, handsOver bool) {
	l.Helper()
	if !handsOver {
		return
	}
	spec := api.ExpectSpec{By: "power", Seconds: 60, Revoke: true}
	if _, err := l.sledd.Client().Expect(l.Context(), sleddtest.MAC(i), spec); err != nil {
		l.Fatal(err)
	}
}

// names are the machines that a plan names, by the lines of wipes.jq: by name or by MAC, each once.
func (l *lab) names(lines []string) []string {
	l.Helper()
	named := map[string]bool{}
	for node, err := range l.sledd.Client().Nodes(l.Context(), api.Filter{}) {
		if err != nil {
			l.Fatal(err)
		}
		for _, line := range lines {
			if strings.HasPrefix(line, node.Name+": ") || strings.HasPrefix(line, node.MAC+": ") {
				named[node.Name] = true
			}
		}
	}
	if len(named) != len(lines) {
		for _, line := range lines {
			if name, _, _ := strings.Cut(line, ": "); name == "n9" { // which is not declared yet
				named[name] = true
			}
		}
	}
	all := []string{}
	for name := range named {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// imaged are the machines whose generation is another one than before.
func (l *lab) imaged(previous map[string]int64) []string {
	l.Helper()
	all := []string{}
	for name, generation := range l.generations() {
		if generation > previous[name] {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Over forty saved plans of every kind, wipes.jq names exactly the machines that the apply then images.
func TestAccFortyPlans(t *testing.T) {
	l := start(t, "applying = terraform.applying")
	steps := append(single(), together()...)
	if len(steps) < 40 {
		t.Fatalf("only %d plans", len(steps))
	}
	last := map[string]int64{} // generations, also of bindings that are gone
	for _, s := range steps {
		l.settle()
		if s.behind != nil {
			s.behind(l)
		}
		for name, generation := range l.generations() {
			last[name] = max(last[name], generation)
		}
		l.declare(s.bodies...)
		lines := l.wipes(strings.Fields(s.plan)...)
		named := l.names(lines)
		l.Must("apply", "saved")
		imaged := l.imaged(last)
		if !slices.Equal(named, imaged) || !slices.Equal(imaged, append([]string{}, s.wiped...)) || len(lines) != len(named) {
			t.Fatalf("%s: the plan names %q, %q are imaged, want %q", s.name, lines, imaged, s.wiped)
		}
	}
	t.Logf("%d plans", len(steps))
}
