// SPDX-License-Identifier: Apache-2.0

// Package archtest holds the direction of imports between sledd's packages.
package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const internal = "github.com/sled-fleet/sled/sledd/internal/"

// floors lists packages from the ground up: each may import only those of floors below its own.
var floors = [][]string{
	{"disk", "key", "limit", "mac", "nodetext", "operand", "origin", "quirk", "refusal", "seal", "store"},
	{"boot", "capacity", "mirror", "token", "plan"},
	{"admission"},
	{"audit", "console", "erasure", "events", "report", "rollout"},
	{"link", "metrics", "multicast", "nodetx"},
	{"fleet", "intake", "rollouts"},
	{"server"},
}

func floorOf(name string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, name) })
}

func imports(t *testing.T) map[string][]string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "../...")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name, inside := strings.CutPrefix(words[0], internal)
		if !inside {
			continue
		}
		found[name] = []string{}
		for _, word := range words[1:] {
			if used, inside := strings.CutPrefix(word, internal); inside {
				found[name] = append(found[name], used)
			}
		}
	}
	return found
}

func TestNoArrowPointsUpward(t *testing.T) {
	found := imports(t)
	for _, floor := range floors {
		for _, name := range floor {
			used, exists := found[name]
			if !exists {
				t.Errorf("package %s does not exist", name)
			}
			for _, other := range used {
				if below := floorOf(other); below < 0 || below >= floorOf(name) {
					t.Errorf("%s imports %s, which is not on a floor below", name, other)
				}
			}
		}
	}
}
